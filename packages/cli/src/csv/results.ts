import { csvRow, maskedCells, type WrittenList } from "@vvs/vendor-files";
import type { Check } from "../checks.ts";
import type { Outcome } from "./journal.ts";
import { numberColumn } from "./vendor-list.ts";

/** What became of a row. */
export type RowOutcome = Outcome | { readonly problem: string };

export type RowResult = "pass" | "fail" | "error" | "refused";

/** Returns the result of a row in one word; a result that this version does not know is no verdict. */
export function resultOf(outcome: RowOutcome): RowResult {
  if (!("verification" in outcome)) return "refused";
  const { overall_result: result } = outcome.verification;
  return result === "pass" || result === "fail" ? result : "error";
}

/** Returns the file of results: the columns of the vendors and those of the verification, in the order of the rows. */
export function resultsCsv(
  list: WrittenList,
  outcomes: readonly RowOutcome[],
  checks: readonly Check[],
  numberProblems: readonly string[] = [],
): string {
  const { columns, rows, format } = list;
  const hasNumbers = numberColumn(list) >= 0;
  const added = new Set([
    ...Object.keys(addedCells({ problem: "" }, checks)),
    ...(hasNumbers ? ["vendor_number_error"] : []),
  ]);
  const kept = columns.filter(({ name }) => !added.has(name));
  const masked = maskedCells(kept);
  const lines = [
    [...kept.map(({ name }) => name), ...added],
    ...rows.map(({ cells }, row) => [
      ...masked({ cells: kept.map(({ index }) => cells[index]!) }),
      ...Object.values(addedCells(outcomes[row]!, checks)),
      ...(hasNumbers ? [numberProblems[row] ?? ""] : []),
    ]),
  ];
  return (format.bom ? "\ufeff" : "") + lines.map((cells) => csvRow(cells, format.delimiter)).join("");
}

/** Returns the added columns of a row by their names; all rows have the same. */
function addedCells(outcome: RowOutcome, checks: readonly Check[]): Record<string, string> {
  const verification = "verification" in outcome ? outcome.verification : undefined;
  const results = new Map(verification?.results.map((result) => [result.check_type, result]));
  const registration = results.get("sam_registration")?.details;
  return {
    verification_result: resultOf(outcome),
    verification_error: reasonOf(outcome),
    verification_id: verification?.id ?? "",
    verification_entity_id: verification?.entity_id ?? "",
    verification_created_at: verification?.created_at ?? "",
    ...Object.fromEntries(
      checks.flatMap((check) => {
        const { status = "", reason = "", evidence_uri = "" } = results.get(check) ?? {};
        return [
          [`${check}_status`, status],
          [`${check}_reason`, reason],
          [`${check}_evidence`, evidence_uri],
        ];
      }),
    ),
    ...(checks.includes("sam_registration") && {
      sam_registration_registration_status: registration?.registration_status ?? "",
      sam_registration_expiration_date: registration?.expiration_date ?? "",
    }),
  };
}

function reasonOf(outcome: RowOutcome): string {
  if ("problem" in outcome) return outcome.problem;
  return "refusal" in outcome ? `${outcome.refusal.code}: ${outcome.refusal.message}` : "";
}
