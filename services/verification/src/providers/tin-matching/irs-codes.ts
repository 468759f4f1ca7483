import { irsName } from "@vvs/identifiers/irs-name";
import { ProviderError } from "../provider.ts";

/** The IRS's verdict on a TIN and a name. */
export interface TinVerdict {
  readonly outcome: "pass" | "fail";
  /** Empty on a pass. */
  readonly reason: "" | "not_issued" | "mismatch";
  readonly details: { readonly irs_code: string };
}

const MATCH = { outcome: "pass", reason: "" } as const;

/** Verdicts by result code, as IRS Publication 2108-A defines them: 0, 6 (SSN), 7 (EIN) and 8 (both) are matches. */
const VERDICTS = new Map<number, Omit<TinVerdict, "details">>([
  [0, MATCH],
  [2, { outcome: "fail", reason: "not_issued" }],
  [3, { outcome: "fail", reason: "mismatch" }],
  [6, MATCH],
  [7, MATCH],
  [8, MATCH],
]);

/** Codes for a missing or malformed TIN, an invalid request and a duplicate one: not the provider's fault. */
const QUESTION_FAULTS: ReadonlySet<number> = new Set([1, 4, 5]);

/**
 * Returns the verdict of an IRS result code. Errors: ProviderError `irs_code_<code>` for codes that say nothing about the
 * vendor (1, 4, 5) and for unknown ones.
 */
export function irsVerdict(code: number): TinVerdict {
  const verdict = VERDICTS.get(code);
  if (verdict) return { ...verdict, details: { irs_code: String(code) } };
  throw new ProviderError(`irs_code_${code}`, { isInputFault: QUESTION_FAULTS.has(code) });
}

/**
 * Returns a name in the form that the IRS accepts. Errors: ProviderError `unusable_name` where no letter or digit is left.
 */
export function nameForIrs(legalName: string): string {
  const name = irsName(legalName);
  if (name === "") throw new ProviderError("unusable_name", { isFault: false });
  return name;
}

/** Returns the name as providers are asked, or as it is where no provider accepts it. */
export function sentName(legalName: string): string {
  return irsName(legalName) || legalName;
}
