import { doubtText } from "@vvs/checks/decision";
import { decisionOf, outcomeOf } from "@vvs/jobs";
import type { Job, JobResult } from "@vvs/proto/verification/v1/jobs";
import { addedCells, type RowResult, resultColumns } from "@vvs/vendor-files";

/**
 * Returns the columns of the download of a list that came from a file: its own, and then those that the command line adds to a
 * file. `verificationsUrl` is the address of the pages of verifications, with a slash at its end.
 */
export function ownColumns({ columns }: Job, verificationsUrl: string) {
  return [
    ...columns.map((title, index) => [title, ({ cells }: JobResult) => cells[index] ?? ""] as const),
    ...resultColumns.map((title, index) => {
      return [title, (result: JobResult) => addedCells(rowResult(result, verificationsUrl))[index]!] as const;
    }),
  ];
}

/** Returns the result of a row, which is empty while it has none. */
function rowResult(result: JobResult, verificationsUrl: string): RowResult {
  const { verification, problems, candidates } = result;
  return {
    outcome: outcomeOf(result.outcome) ?? "",
    decision: decisionOf(result.decision),
    checks: verification?.results.map(({ reason, details: { legalName, tin, name, expirationDate } = {} }) => {
      return { reason, legal_name: legalName, tin, name, expiration_date: expirationDate };
    }),
    doubts: result.doubts.map(doubtText),
    problems,
    candidates: candidates.map(({ id, legalName }) => ({ id, legal_name: legalName })),
    evidence: verification && `${verificationsUrl}${verification.id}`,
  };
}
