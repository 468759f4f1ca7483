import { existsSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { CreateJobRequest, JobResult } from "@vendor-verification/client";
import { problemText, type VendorFile, writeResults } from "@vvs/vendor-files";
import type { Context } from "../command.ts";
import { type ExitCode, exitCodes, UsageError } from "../exit-codes.ts";
import { followLimits } from "../follow.ts";
import { createProgress } from "../jobs/progress.ts";
import { jobReference } from "../jobs/reference.ts";
import { decisionsOf, resultsOf } from "../jobs/results.ts";
import { readVendorList } from "../jobs/vendor-list.ts";
import { waitForJob } from "../jobs/wait.ts";
import type { Output } from "../output.ts";

/** How long an attempt to send the list may take, in milliseconds. */
const SEND_TIMEOUT_MS = 60_000;
const MAX_PROBLEMS = 20;
const UNPROVEN =
  "an id alone does not prove that this file started the job. Check that the vendors and their order have not changed, or use the whole --job value that was printed when the job started.";

/** What a job is started with besides its vendors. */
export type Terms = Omit<CreateJobRequest, "vendors">;

/**
 * Verifies the vendors of a file in a job and writes the results. `job` is the new one's terms, or the reference of one that
 * was started with this file. A new one that is not waited for is only started, and needs no `out`.
 */
export async function verifyFile(
  context: Context,
  options: {
    file: string;
    out: string | undefined;
    job: Terms | string;
    idempotencyKey?: string | undefined;
    waits: boolean;
  },
): Promise<ExitCode> {
  const { output, signal } = context;
  const { file, out, waits, idempotencyKey } = options;
  if (out !== undefined && existsSync(out)) {
    throw new UsageError(`${out} exists already. Choose another --out, or remove it.`);
  }
  const client = context.client();
  const list = await readVendorList(file);
  if (out !== undefined && !existsSync(dirname(out))) throw new UsageError(`There is no folder ${dirname(out)}.`);
  noteProblems(output, list);
  const vendors = list.rows.flatMap(({ vendor }) => vendor ?? []);
  if (vendors.length === 0) throw new UsageError(`${file} has no row that can be verified.`);
  // Without the signal: Ctrl-C waits for the id, with which the job can be continued.
  const job =
    typeof options.job === "string"
      ? await client.getJob(startedWith(options.job, vendors, file), { signal })
      : await client.createJob({ ...options.job, vendors }, { idempotencyKey, attemptTimeoutMs: SEND_TIMEOUT_MS });
  const { id, total } = job;
  const given = job.file_rows ? list.rows.length : vendors.length;
  if (total !== given) throw new UsageError(`${id} has ${total} vendors, but ${file} has ${given}.`);
  if (options.job === id) output.warning(UNPROVEN);
  const reference = jobReference(id, vendors);
  const again = `vendor-verification verify ${quoted(file)} --out ${quoted(out ?? "results.csv")} --job ${reference}`;
  if (out === undefined || (!waits && typeof options.job !== "string")) {
    output.result(
      { job_id: id, job: reference, rows: list.rows.length },
      () => `${id} is started. For its results: ${again}`,
    );
    return exitCodes.ok;
  }
  output.note(`${id}: ${total} vendors.`);
  const progress = createProgress(output, Date.now);
  const found: JobResult[] = [];
  try {
    if (waits) await waitForJob(client, id, { signal, onProgress: progress.draw });
    for await (const result of client.allJobResults(id, { limit: 100 }, { signal, ...followLimits }))
      found.push(result);
  } catch (error) {
    progress.clear();
    output.result({ job_id: id, job: reference }, () => `Stopped, but ${id} goes on. For its results: ${again}`);
    throw error;
  }
  progress.clear();
  const results = resultsOf(list, job, found);
  await writeWhole(out, writeResults(list, results)).catch((error: unknown) => {
    output.result({ job_id: id, job: reference }, () => `${id} is done. To write its results again: ${again}`);
    throw error;
  });
  const { open, ...decisions } = decisionsOf(results);
  output.result({ job_id: id, out, rows: results.length, ...decisions, open }, () => {
    const words = Object.entries({ ...decisions, ...(open > 0 && { "without a result": open }) });
    return `${results.length} rows: ${words.map(([word, rows]) => `${rows} ${word}`).join(", ")}. Results: ${out}`;
  });
  if (decisions.hold > 0) return exitCodes.negative;
  return decisions.pay === results.length ? exitCodes.ok : exitCodes.undecided;
}

/**
 * Returns the id of the job that was started with these vendors. An id without the digest proves nothing. Errors: UsageError if
 * it was started with others.
 */
function startedWith(job: string, vendors: CreateJobRequest["vendors"], file: string): string {
  const [id = "", digest] = job.split(".");
  if (digest === undefined || job === jobReference(id, vendors)) return id;
  throw new UsageError(
    `--job ${job} was not started with ${file} as it is now. Give --job whole, as it was printed, and the file with the same vendors in the same order. If you no longer have them, download the results from the dashboard.`,
  );
}

function noteProblems(output: Output, { rows, notices }: VendorFile): void {
  for (const notice of notices) output.note(`${problemText(notice)}.`);
  const problems = rows.flatMap((row) => row.problems);
  for (const problem of problems.slice(0, MAX_PROBLEMS)) output.note(`${problemText(problem)}.`);
  if (problems.length > MAX_PROBLEMS) output.note(`${problems.length - MAX_PROBLEMS} further problems.`);
  const bad = rows.filter(({ vendor }) => !vendor).length;
  if (bad > 0) output.note(`${bad} of ${rows.length} rows can't be verified: their outcome is invalid.`);
}

/** Returns an argument as a shell takes it. */
function quoted(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Writes a file whole or not at all. */
async function writeWhole(file: string, texts: AsyncIterable<string>): Promise<void> {
  const unfinished = `${file}.unfinished`;
  try {
    await writeFile(unfinished, texts, { mode: 0o600 });
    await rename(unfinished, file);
  } catch (error) {
    throw new UsageError(`The results can't be written: ${(error as Error).message}.`, { cause: error });
  }
}
