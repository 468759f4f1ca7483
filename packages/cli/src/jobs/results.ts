import type { Job, JobResult } from "@vendor-verification/client";
import { problemText, type RowResult, type VendorFile } from "@vvs/vendor-files";
import { UsageError } from "../exit-codes.ts";

/**
 * Returns the result of each row of a list from those of its job. The job has the rows without problems, or with `file_rows` all
 * of them. Undefined: the job has none yet. Errors: UsageError if the number of a row or a vendor shows that the job is of
 * another list.
 */
export function resultsOf(
  { rows }: Pick<VendorFile, "rows">,
  { id, file_rows }: Pick<Job, "id" | "file_rows">,
  results: readonly JobResult[],
): (RowResult | undefined)[] {
  const found = rows.map(({ vendor, problems }): RowResult | undefined =>
    vendor
      ? undefined
      : {
          outcome: "invalid",
          decision: "review",
          problems: problems.map((problem) => ({ path: "row", message: problemText(problem) })),
        },
  );
  const sent = rows.flatMap((row, index) => (row.vendor || file_rows ? { ...row, index } : []));
  const sentByRow = new Map(sent.map((row, place) => [file_rows ? row.number : place + 1, row]));
  for (const result of results) {
    const row = sentByRow.get(result.row);
    if (!row)
      throw new UsageError(`${id} has a row ${result.row}, but the file has no such vendor. Give the same file.`);
    const { index, number, vendor } = row;
    if (vendor && result.external_id !== undefined && result.external_id !== vendor.external_id) {
      throw new UsageError(
        `Row ${number} was vendor ${result.external_id} when the job was started. Give the same file.`,
      );
    }
    found[index] = rowResult(result);
  }
  return found;
}

/** Returns the number of rows by decision; `open` are those without a result. */
export function decisionsOf(results: readonly (RowResult | undefined)[]) {
  const count = (decision: string | undefined) => results.filter((result) => result?.decision === decision).length;
  const [pay, hold, open] = [count("pay"), count("hold"), count(undefined)];
  return { pay, hold, review: results.length - pay - hold - open, open };
}

function rowResult(result: JobResult): RowResult {
  const checks = result.verification?.results ?? [];
  return {
    ...result,
    checks: checks.map(({ reason, details }) => ({ ...details, reason })),
    evidence: checks.map(({ evidence_uri }) => evidence_uri).join("; "),
  };
}
