import { doubtText } from "@vvs/checks/decision";
import { decisionOf, outcomeOf } from "@vvs/jobs";
import type { Job, JobResult } from "@vvs/proto/verification/v1/jobs";
import { addedCells, type RowResult, reasonTexts, resultColumns } from "@vvs/vendor-files";

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
  const [outcome, decision] = [outcomeOf(result.outcome), decisionOf(result.decision)];
  const checks = verification?.results ?? [];
  const detail = (name: "legalName" | "tin" | "name" | "expirationDate") =>
    checks.map(({ details }) => details?.[name]).find(Boolean);
  return {
    outcome: outcome ?? "",
    decision,
    registry_name: detail("legalName"),
    asked_tin: detail("tin"),
    asked_name: detail("name"),
    expires_on: detail("expirationDate"),
    reasons: reasonTexts({
      problems,
      checks: checks.map(({ reason }) => reason),
      doubts: result.doubts.map(doubtText),
      candidates: candidates.map(({ id, legalName: name }) => ({ id, name })),
    }),
    evidence: verification && `${verificationsUrl}${verification.id}`,
  };
}
