import { existsSync, renameSync, writeFileSync } from "node:fs";
import { problemText } from "@vvs/vendor-files";
import type { Check, Mode } from "../checks.ts";
import type { Context } from "../command.ts";
import { openJournal } from "../csv/journal.ts";
import { createProgress, wordsOf } from "../csv/progress.ts";
import { createQuota } from "../csv/quota.ts";
import { type RowOutcome, type RowResult, resultOf, resultsCsv } from "../csv/results.ts";
import { verifyAll } from "../csv/run.ts";
import { numberColumn, readVendorList, requestOf } from "../csv/vendor-list.ts";
import { saveVendorNumbers } from "../csv/vendor-numbers.ts";
import { type ExitCode, exitCodes, UsageError } from "../exit-codes.ts";
import { environmentOf } from "./login.ts";

/** Verifies every vendor of a file and writes the results; continues a run that was stopped. */
export async function verifyFile(
  context: Context,
  options: { file: string; out: string; parallel: number; checks: Check[]; mode: Mode },
): Promise<ExitCode> {
  const { output, signal } = context;
  const { file, out, parallel, ...question } = options;
  const { apiKey, baseUrl } = context.settings();
  if (existsSync(out)) throw new UsageError(`${out} exists already. Choose another --out, or remove it.`);
  const vendors = await readVendorList(file);
  for (const notice of vendors.notices) output.note(`${problemText(notice)}.`);
  const identity = { base_url: baseUrl, environment: environmentOf(apiKey), ...question };
  const journal = openJournal(`${out}.progress`, identity);
  const rows = vendors.rows.map((row) => {
    const request = requestOf(row, question);
    return "problem" in request ? request : { key: journal.keyOf(request), request };
  });
  const outcomes = () => rows.map((row) => ("problem" in row ? row : journal.outcomeOf(row.key)));

  const progress = createProgress({ terminal: output.terminal, total: rows.length, now: Date.now });
  // Rows of equal vendors share an outcome.
  const rowsOf = new Map<string, number>();
  for (const row of rows) if ("key" in row) rowsOf.set(row.key, (rowsOf.get(row.key) ?? 0) + 1);
  const counts = countsOf(outcomes());
  const onOutcome = (key: string) => {
    counts[resultOf(journal.outcomeOf(key)!)] += rowsOf.get(key)!;
    progress.draw(counts);
  };
  if (journal.isResumed) output.note(`Continuing: ${total(counts)} of ${rows.length} rows are done.`);
  progress.draw(counts);
  const quota = createQuota({ now: Date.now });
  const client = context.client({ onResponse: ({ headers }) => quota.note(headers) });
  const requests = new Map(rows.flatMap((row) => ("problem" in row ? [] : [[row.key, row.request] as const])));
  let numberProblems: string[];
  try {
    await verifyAll({ client, journal, quota, requests, parallel, signal, onOutcome });
    const hasNumbers = numberColumn(vendors) >= 0;
    const done = outcomes();
    const numbered = vendors.rows.map(({ vendor }, row) => ({
      vendorNumber: hasNumbers ? vendor?.external_id : undefined,
      outcome: verifiedIn(done[row]),
    }));
    numberProblems = await saveVendorNumbers({ client, quota, rows: numbered, parallel, signal });
  } catch (error) {
    output.note(`Stopped with ${total(counts)} of ${rows.length} rows done. Run the same command again to continue.`);
    throw error;
  } finally {
    progress.clear();
  }
  writeWhole(out, resultsCsv(vendors, outcomes() as RowOutcome[], question.checks, numberProblems));
  journal.remove();
  output.result(
    { out, rows: rows.length, ...counts },
    () => `${rows.length} rows: ${wordsOf(counts)}. Results: ${out}`,
  );
  if (counts.fail > 0) return exitCodes.negative;
  return counts.error + counts.refused > 0 || numberProblems.some(Boolean) ? exitCodes.undecided : exitCodes.ok;
}

const verifiedIn = (outcome: RowOutcome | undefined) => (outcome && "problem" in outcome ? undefined : outcome);

function countsOf(outcomes: readonly (RowOutcome | undefined)[]): Record<RowResult, number> {
  const counts = { pass: 0, fail: 0, error: 0, refused: 0 };
  for (const outcome of outcomes) if (outcome) counts[resultOf(outcome)]++;
  return counts;
}

function total(counts: Record<RowResult, number>): number {
  return counts.pass + counts.fail + counts.error + counts.refused;
}

/** Writes a file whole or not at all. */
function writeWhole(file: string, text: string): void {
  const unfinished = `${file}.unfinished`;
  try {
    writeFileSync(unfinished, text, { mode: 0o600 });
    renameSync(unfinished, file);
  } catch (error) {
    throw new UsageError(`The results can't be written: ${(error as Error).message}.`, { cause: error });
  }
}
