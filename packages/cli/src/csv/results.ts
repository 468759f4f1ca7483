import { stringify } from "csv-stringify/sync";
import type { Check } from "../checks.ts";
import { withoutFormulas } from "./formulas.ts";
import type { Outcome } from "./journal.ts";
import type { VendorFile } from "./vendors.ts";

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
  file: VendorFile,
  outcomes: readonly RowOutcome[],
  checks: readonly Check[],
  numberProblems: readonly string[] = [],
): string {
  const added = new Set([
    ...Object.keys(addedCells({ problem: "" }, checks)),
    ...(file.hasNumbers ? ["vendor_number_error"] : []),
  ]);
  const kept = file.header.flatMap((name, column) => (added.has(name.trim()) ? [] : [column]));
  const cellOf = (cells: readonly string[], column: number) =>
    column === file.tinColumn ? masked(cells[column] ?? "") : (cells[column] ?? "");
  const lines = [
    [...kept.map((column) => file.header[column]!), ...added],
    ...file.rows.map(({ cells }, row) => [
      ...kept.map((column) => cellOf(cells, column)),
      ...Object.values(addedCells(outcomes[row]!, checks)),
      ...(file.hasNumbers ? [numberProblems[row] ?? ""] : []),
    ]),
  ];
  const harmless = lines.map((cells) => cells.map(withoutFormulas));
  return stringify(harmless, { bom: file.hasBom, delimiter: file.delimiter });
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

function masked(tin: string): string {
  const digits = tin.replaceAll(/\D/g, "");
  if (tin.trim() === "") return "";
  return digits.length === 9 ? `****${digits.slice(-4)}` : "****";
}
