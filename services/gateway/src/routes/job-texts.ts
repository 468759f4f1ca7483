import { apiResultColumns } from "@vvs/jobs";
import type { JobResult } from "@vvs/proto/verification/v1/jobs";
import { csvRow } from "@vvs/vendor-files/csv-row";
import { renderJobResult } from "../render/job.ts";

/** Returns results as CSV, with a header, in which no cell is taken as a formula. */
export async function* csvLines(results: AsyncIterable<JobResult>, publicBaseUrl: string): AsyncGenerator<string> {
  const columns = apiResultColumns(publicBaseUrl);
  yield csvRow(columns.map(([title]) => title));
  for await (const result of results) yield csvRow(columns.map(([, cell]) => cell(result)));
}

/** Returns results as JSON, one in each line. */
export async function* jsonLines(results: AsyncIterable<JobResult>, publicBaseUrl: string): AsyncGenerator<string> {
  for await (const result of results) yield `${JSON.stringify(renderJobResult(result, publicBaseUrl))}\n`;
}
