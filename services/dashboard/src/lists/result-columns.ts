import type { JobResult } from "@vvs/proto/verification/v1/jobs";
import { decisions, nameIn, outcomes } from "./words.ts";

type Cell = (result: JobResult) => string;

/** Returns the columns of results as a file: those of the API's CSV. */
export const resultColumns = (apiBaseUrl: URL): readonly (readonly [title: string, cell: Cell])[] => [
  ["row", ({ row }) => String(row)],
  ["external_id", ({ externalId }) => externalId],
  ["outcome", ({ outcome }) => nameIn(outcomes, outcome) ?? ""],
  ["decision", ({ decision }) => nameIn(decisions, decision) ?? ""],
  ["entity_id", ({ entityId }) => entityId],
  ["legal_name", ({ legalName }) => legalName],
  ["name_agrees", ({ nameAgrees }) => String(nameAgrees ?? "")],
  ["registration_status", (result) => detail(result, "registrationStatus")],
  ["expiration_date", (result) => detail(result, "expirationDate")],
  ["asked_tin", (result) => detail(result, "tin")],
  ["asked_name", (result) => detail(result, "name")],
  ["reasons", ({ verification }) => list(verification?.results.map(({ reason }) => reason))],
  ["verification_id", ({ verification }) => verification?.id ?? ""],
  [
    "evidence",
    ({ verification }) =>
      list(verification?.results.map(({ evidenceId }) => new URL(`/v1/evidence/${evidenceId}`, apiBaseUrl).href)),
  ],
  ["monitor_id", ({ monitorId }) => monitorId],
  ["candidates", ({ candidates }) => list(candidates.map(({ id }) => id))],
  ["problems", ({ problems }) => list(problems.map(({ path, message }) => `${path}: ${message}`))],
];

function detail({ verification }: JobResult, name: "registrationStatus" | "expirationDate" | "tin" | "name"): string {
  return verification?.results.map(({ details }) => details?.[name]).find((value) => value) ?? "";
}

function list(values: readonly string[] = []): string {
  return values.filter((value) => value).join("; ");
}
