import { resultColumns } from "./columns.ts";
import { maskedCell } from "./masked.ts";

/** The result of a row. What is absent stays empty. */
export interface RowResult {
  readonly outcome: string;
  readonly decision?: string | undefined;
  readonly checks?: readonly CheckResult[] | undefined;
  /** What else speaks against a payment. */
  readonly doubts?: readonly string[] | undefined;
  readonly problems?: readonly { readonly path: string; readonly message: string }[] | undefined;
  readonly candidates?: readonly { readonly id: string; readonly legal_name: string }[] | undefined;
  /** Address of the page with the evidence. */
  readonly evidence?: string | undefined;
}

interface CheckResult {
  /** Empty if it passed. */
  readonly reason?: string | undefined;
  /** The vendor's name by the registry. */
  readonly legal_name?: string | undefined;
  /** The TIN that was asked for; it is written masked. */
  readonly tin?: string | undefined;
  /** The name that was asked for. */
  readonly name?: string | undefined;
  /** The last day of the registration, YYYY-MM-DD. */
  readonly expiration_date?: string | undefined;
}

/** Returns the cells of `resultColumns`, which are empty where there is no result. */
export function addedCells(result: RowResult | undefined): string[] {
  const { outcome, decision, checks = [], evidence } = result ?? {};
  const detail = (name: keyof CheckResult) => checks.map((check) => check[name]).find(Boolean) ?? "";
  const cells = {
    outcome,
    decision,
    registry_name: detail("legal_name"),
    asked_tin: detail("tin") && maskedCell(detail("tin")),
    asked_name: detail("name"),
    expires_on: detail("expiration_date"),
    reasons: result && reasonsOf(result).join("; "),
    evidence,
  };
  return resultColumns.map((name) => cells[name] ?? "");
}

/** Returns why a row is not simply paid. */
function reasonsOf({ checks = [], doubts = [], problems = [], candidates = [] }: RowResult): string[] {
  return [
    ...checks.flatMap(({ reason }) => reason || []),
    ...doubts,
    ...problems.map(({ path, message }) => (path === "row" ? message : `${path} ${message}`)),
    ...candidates.map(({ id, legal_name }) => `may be ${id} (${legal_name})`),
  ];
}
