import type { JobResult } from "@vvs/proto/verification/v1/jobs";
import { decisionOf, outcomeOf } from "./names.ts";

type Cell = (result: JobResult) => string;

/**
 * Returns the columns of results as CSV, each with its title and its cell, which is empty where there is nothing to say. Links to
 * evidence begin with the API's public base URL, which has no trailing slash.
 */
export const apiResultColumns = (apiBaseUrl: string): readonly (readonly [title: string, cell: Cell])[] => [
  ["row", ({ row }) => String(row)],
  ["external_id", ({ externalId }) => externalId],
  ["outcome", ({ outcome }) => outcomeOf(outcome) ?? ""],
  ["decision", ({ decision }) => decisionOf(decision) ?? ""],
  ["entity_id", ({ entityId }) => entityId],
  ["legal_name", ({ legalName }) => legalName],
  ["name_agrees", ({ nameAgrees }) => String(nameAgrees ?? "")],
  ["registration_status", (result) => detail(result, "registrationStatus")],
  ["expiration_date", (result) => detail(result, "expirationDate")],
  ["asked_tin", (result) => detail(result, "tin")],
  ["asked_name", (result) => detail(result, "name")],
  [
    "reasons",
    ({ verification, doubts }) => list([...(verification?.results.map(({ reason }) => reason) ?? []), ...doubts]),
  ],
  ["verification_id", ({ verification }) => verification?.id ?? ""],
  [
    "evidence",
    ({ verification }) =>
      list(verification?.results.map(({ evidenceId }) => `${apiBaseUrl}/v1/evidence/${evidenceId}`)),
  ],
  ["monitor_id", ({ monitorId }) => monitorId],
  ["candidates", ({ candidates }) => list(candidates.map(({ id }) => id))],
  ["problems", ({ problems }) => list(problems.map(({ path, message }) => `${path}: ${message}`))],
];

function detail({ verification }: JobResult, name: "registrationStatus" | "expirationDate" | "tin" | "name"): string {
  return verification?.results.map(({ details }) => details?.[name]).find(Boolean) ?? "";
}

function list(values: readonly string[] = []): string {
  return values.filter(Boolean).join("; ");
}
