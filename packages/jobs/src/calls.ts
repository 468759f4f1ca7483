import type { JobResult, JobService } from "@vvs/proto/verification/v1/jobs";
import type { Client } from "@vvs/rpc";
import type { JobRow } from "./rows.ts";

type Jobs = Client<typeof JobService>;
type Request<M extends keyof Jobs> = Exclude<Parameters<Jobs[M]>[0], { $typeName: string }>;

/** Maximum number of rows or results in a call. */
const ROWS_TOGETHER = 500;
/** Characters of rows after which a call has no further row: messages have at most 4 MB. */
const CHARACTERS_TOGETHER = 500_000;

/** Returns the first of some rows, as many as fit into one message: at least one. */
export function fittingRows<R>(rows: R[]): R[] {
  let length = 0;
  const end = rows.findIndex((row) => {
    const isFull = length > CHARACTERS_TOGETHER;
    length += JSON.stringify(row).length;
    return isFull;
  });
  return end === -1 ? rows : rows.slice(0, end);
}

/** Stores the rows of a new job, which is not started yet. Returns its id. Errors: those of AddJobRows. */
export async function addJobRows(
  jobs: Pick<Jobs, "addJobRows">,
  { caller, rows }: Pick<Request<"addJobRows">, "caller"> & { readonly rows: readonly JobRow[] },
): Promise<string> {
  let jobId = "";
  for (let at = 0; at < rows.length; ) {
    const together = fittingRows(rows.slice(at, at + ROWS_TOGETHER));
    ({ jobId } = await jobs.addJobRows({ caller, jobId, rows: together }));
    at += together.length;
  }
  return jobId;
}

/** Returns all results of a job, or those asked for, read as they are needed. Errors: those of ListJobResults, before any result. */
export async function readJobResults(
  jobs: Pick<Jobs, "listJobResults">,
  asked: Omit<Request<"listJobResults">, "afterRow" | "limit">,
): Promise<AsyncGenerator<JobResult>> {
  const read = (afterRow: number) => jobs.listJobResults({ ...asked, afterRow, limit: ROWS_TOGETHER });
  const first = await read(0);
  return (async function* () {
    for (let page = first; ; page = await read(page.nextRow)) {
      yield* page.results;
      if (page.nextRow === 0) return;
    }
  })();
}
