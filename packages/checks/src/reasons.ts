/** What a client does about a reason. */
const actions = {
  again: "Ask again later.",
  correct: "Correct the input.",
  decide: "Decide.",
  operator: "Contact the operator.",
} as const;

/** Why a result is not `pass`, or why an attempt at a provider gave no answer. */
export interface Reason {
  /** The status of the results that have it, or `attempt` where only attempts in the evidence have it. */
  readonly of: "fail" | "error" | "attempt";
  readonly meaning: string;
  readonly action: keyof typeof actions;
  /** What to do in detail, after the action; with `code` in backticks only where a result failed. */
  readonly remedy?: string;
}

/**
 * All reasons of results and attempts, a closed list: code that gives another one does not compile. The reference page,
 * docs/errors.md and the dashboard explain them by it. `<…>` stands for a number.
 */
export const reasons = {
  not_found: {
    of: "fail",
    meaning: "The provider has no record of this vendor.",
    action: "correct",
    remedy: "Look for a typing error in the identifier. If it is right, the vendor is not registered.",
  },
  not_registered: {
    of: "fail",
    meaning: "The vendor has a UEI but never completed a registration.",
    action: "decide",
    remedy: "The vendor can complete it at SAM.gov.",
  },
  excluded: {
    of: "fail",
    meaning: "The vendor has an active exclusion.",
    action: "decide",
    remedy: "`details.exclusions` says who excluded it, from what, and until when.",
  },
  expired: {
    of: "fail",
    meaning: "The registration has expired.",
    action: "decide",
    remedy: "`details.expiration_date` was its last day. The vendor can renew it at SAM.gov.",
  },
  inactive: {
    of: "fail",
    meaning: "The registration is not active.",
    action: "decide",
    remedy: "The vendor can complete or renew it at SAM.gov.",
  },
  mismatch: {
    of: "fail",
    meaning: "The name and the TIN do not match.",
    action: "correct",
    remedy: "Compare both with the vendor’s Form W-9. `details` says which name and which TIN were asked about.",
  },
  not_issued: {
    of: "fail",
    meaning: "The IRS has not issued this TIN.",
    action: "correct",
    remedy: "Look for a typing error, or ask the vendor for its Form W-9.",
  },
  missing_uei: {
    of: "error",
    meaning: "Neither a UEI nor a CAGE code of this vendor is known.",
    action: "correct",
    remedy: "Run the check again with a UEI or a CAGE code.",
  },
  missing_tin: {
    of: "error",
    meaning: "This vendor’s TIN is not known.",
    action: "correct",
    remedy: "Run the check again with the vendor’s TIN.",
  },
  missing_name: {
    of: "error",
    meaning: "This vendor’s name is not known.",
    action: "correct",
    remedy: "Run the check again with the vendor’s legal name.",
  },
  not_enabled: {
    of: "error",
    meaning: "Live TIN matching is not enabled for your organization, so no provider was asked.",
    action: "operator",
    remedy: "Only the operator of this service can enable it.",
  },
  not_configured: {
    of: "error",
    meaning: "The operator of this service has set up no provider for this check, so none was asked.",
    action: "operator",
    remedy: "Only the operator can set one up. Until then, decide without this check.",
  },
  too_many_attempts: {
    of: "error",
    meaning:
      "No provider was asked, because too many TINs that did not match were tried for this vendor, for this name, or by your organization today.",
    action: "again",
    remedy: "The count begins again at midnight UTC.",
  },
  providers_failed: {
    of: "error",
    meaning: "No provider could answer. This says nothing about the vendor.",
    action: "again",
    remedy: "The evidence has the reason of each attempt.",
  },
  stale_source: {
    of: "error",
    meaning: "The provider’s data is too old for this check.",
    action: "again",
    remedy: "Newer data usually comes within a day.",
  },
  entity_not_found: {
    of: "error",
    meaning: "The monitored vendor no longer exists.",
    action: "decide",
    remedy: "The monitor can be canceled.",
  },
  timeout: { of: "attempt", meaning: "The provider did not answer completely in time.", action: "again" },
  connection: { of: "attempt", meaning: "The connection to the provider failed.", action: "again" },
  tls: {
    of: "attempt",
    meaning: "A secure (TLS) connection to the provider could not be set up.",
    action: "again",
  },
  "http_<status>": { of: "attempt", meaning: "The provider answered with this HTTP status.", action: "again" },
  too_large: { of: "attempt", meaning: "The provider’s answer was too large to read.", action: "operator" },
  wrong_content_type: {
    of: "attempt",
    meaning: "The provider’s answer had an unexpected content type.",
    action: "again",
  },
  wrong_shape: { of: "attempt", meaning: "The provider’s answer lacked required fields.", action: "again" },
  circuit_open: {
    of: "attempt",
    meaning: "The provider was not called, because it had failed repeatedly.",
    action: "again",
  },
  budget_spent: {
    of: "attempt",
    meaning:
      "The provider was not called, because your organization has made all the calls that its plan allows at this provider for now.",
    action: "again",
    remedy: "Usage in the dashboard says when there are more.",
  },
  quota_exhausted: {
    of: "attempt",
    meaning: "The provider was not called, because its quota is used up.",
    action: "again",
    remedy: "SAM.gov’s quota usually begins again at midnight UTC.",
  },
  pending: {
    of: "attempt",
    meaning: "The provider was still looking up the answer when time ran out.",
    action: "again",
  },
  on_hold: { of: "attempt", meaning: "The provider could not reach the IRS at that time.", action: "again" },
  irs_outage: { of: "attempt", meaning: "The IRS’s own service was down.", action: "again" },
  "irs_code_<code>": {
    of: "attempt",
    meaning: "The IRS answered with this result code, which says nothing about the vendor.",
    action: "correct",
    remedy: "1: the TIN is malformed. 4: the request is. 5: it was sent twice. Ask again later after any other.",
  },
  refused: { of: "attempt", meaning: "The provider refused the request.", action: "correct" },
  unknown_answer: { of: "attempt", meaning: "The provider’s answer could not be interpreted.", action: "again" },
  out_of_credit: {
    of: "attempt",
    meaning: "The operator’s credit with this provider is used up.",
    action: "operator",
  },
  unusable_name: {
    of: "attempt",
    meaning: "The name has no characters that this provider accepts.",
    action: "correct",
  },
  unaskable: {
    of: "attempt",
    meaning: "This provider can’t look up this kind of identifier.",
    action: "correct",
    remedy: "Run the check again with a UEI.",
  },
  ambiguous_cage: {
    of: "attempt",
    meaning: "The provider has several vendors with this CAGE code.",
    action: "correct",
    remedy: "Run the check again with a UEI.",
  },
  internal_error: { of: "attempt", meaning: "Something went wrong on our side.", action: "again" },
} as const satisfies Record<string, Reason>;

type Named = typeof reasons;
type ReasonOf<Of extends Reason["of"]> = {
  [Name in keyof Named]: Named[Name]["of"] extends Of ? Name : never;
}[keyof Named];

/** Why a result is `fail`. */
export type FailReason = ReasonOf<"fail">;
/** Why a result is `error`. */
export type ErrorReason = ReasonOf<"error">;
/** Why an attempt at a provider gave no answer about the vendor. */
export type ThrowReason =
  | Exclude<ReasonOf<"attempt">, `${string}<${string}>`>
  | `http_${number}`
  | `irs_code_${number}`
  | "stale_source";

/** The reasons of results. */
export const resultReasons = (Object.keys(reasons) as (keyof Named)[]).filter(
  (name): name is FailReason | ErrorReason => reasons[name].of !== "attempt",
);

/** Returns a reason's entry, also of `http_503`; undefined for one that only a newer version of the product knows. */
export function reasonOf(code: string): Reason | undefined {
  const name = code.replace(/^http_\d+$/, "http_<status>").replace(/^irs_code_\d+$/, "irs_code_<code>");
  return Object.hasOwn(reasons, name) ? reasons[name as keyof Named] : undefined;
}

/** Returns what to do about a reason, as one text. */
export function whatToDo({ action, remedy }: Reason): string {
  return remedy ? `${actions[action]} ${remedy}` : actions[action];
}

/** Returns the id of the place on the reference page that explains a reason. */
export function reasonAnchor(code: string): string {
  return `reason-${code.replace(/_(?:\d+|<\w+>)$/, "")}`;
}
