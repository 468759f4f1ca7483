import type { z } from "@vvs/config";
import { csvRow } from "@vvs/vendor-files/csv-row";
import type { jobResultSchema } from "../render/job.ts";

type Result = z.infer<typeof jobResultSchema>;

/** The columns of results as CSV, each with its value. */
const columns: Readonly<Record<string, (result: Result) => string | number | boolean | undefined>> = {
  row: ({ row }) => row,
  external_id: ({ external_id }) => external_id,
  outcome: ({ outcome }) => outcome,
  decision: ({ decision }) => decision,
  entity_id: ({ entity_id }) => entity_id,
  legal_name: ({ legal_name }) => legal_name,
  name_agrees: ({ name_agrees }) => name_agrees,
  registration_status: (result) => detail(result, "registration_status"),
  expiration_date: (result) => detail(result, "expiration_date"),
  asked_tin: (result) => detail(result, "tin"),
  asked_name: (result) => detail(result, "name"),
  reasons: ({ verification }) => list(verification?.results.map(({ reason }) => reason)),
  verification_id: ({ verification }) => verification?.id,
  evidence: ({ verification }) => list(verification?.results.map(({ evidence_uri }) => evidence_uri)),
  monitor_id: ({ monitor_id }) => monitor_id,
  candidates: ({ candidates }) => list(candidates?.map(({ id }) => id)),
  problems: ({ problems }) => list(problems?.map(({ path, message }) => `${path}: ${message}`)),
};

/** Returns results as CSV, with a header, in which no cell is taken as a formula. */
export async function* csvLines(results: AsyncIterable<Result>): AsyncGenerator<string> {
  yield csvRow(Object.keys(columns));
  for await (const result of results) {
    yield csvRow(Object.values(columns).map((read) => String(read(result) ?? "")));
  }
}

/** Returns results as JSON, one in each line. */
export async function* jsonLines(results: AsyncIterable<Result>): AsyncGenerator<string> {
  for await (const result of results) yield `${JSON.stringify(result)}\n`;
}

function detail({ verification }: Result, name: "registration_status" | "expiration_date" | "tin" | "name") {
  return verification?.results.map(({ details }) => details?.[name]).find((value) => value);
}

function list(values: readonly (string | undefined)[] = []): string {
  return values.filter((value) => value).join("; ");
}
