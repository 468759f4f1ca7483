/** Display texts for the codes of providers and reasons. */

const providerNames: Readonly<Record<string, string>> = {
  sam_gov_api: "SAM.gov API",
  sam_gov_extract: "SAM.gov extract files",
  sam_gov_exclusions: "SAM.gov exclusions file",
  taxbandits: "TaxBandits",
  compliancely: "Compliancely",
  sandbox_registry: "Sandbox registry",
  sandbox_primary: "First sandbox provider",
  sandbox_secondary: "Second sandbox provider",
};

const reasons: Readonly<Record<string, string>> = {
  not_found: "The provider has no record of this vendor.",
  not_registered: "The vendor has a UEI but never completed a registration.",
  excluded: "The vendor has an active exclusion.",
  expired: "The registration has expired.",
  inactive: "The registration is not active.",
  mismatch: "The name and the TIN do not match.",
  not_issued: "The IRS has not issued this TIN.",
  missing_tin: "This vendor’s TIN is not known. Run the check again and enter one.",
  missing_name: "This vendor’s name is not known. Run the check again and enter one.",
  missing_uei: "Neither a UEI nor a CAGE code of this vendor is known.",
  not_enabled:
    "Live TIN matching is not enabled for your organization, so no provider was asked. To have it enabled, contact the operator of this service.",
  too_many_attempts:
    "No provider was asked, because too many TINs that did not match were tried for this vendor, for this name, or by your organization today. Try again tomorrow.",
  providers_failed: "No provider could answer. This says nothing about the vendor. Run the check again later.",
  stale_source: "The provider’s data is too old for this check.",
  timeout: "The provider did not answer completely in time.",
  connection: "The connection to the provider failed.",
  tls: "A secure (TLS) connection to the provider could not be set up.",
  too_large: "The provider’s answer was too large to read.",
  wrong_content_type: "The provider’s answer had an unexpected content type.",
  wrong_shape: "The provider’s answer lacked required fields.",
  circuit_open: "The provider was not called, because it had failed repeatedly.",
  budget_spent:
    "The provider was not called, because your organization has made all the calls that its plan allows at this provider for now. See Usage.",
  quota_exhausted: "The provider was not called, because its quota is used up.",
  pending: "The provider was still looking up the answer when time ran out.",
  on_hold: "The provider could not reach the IRS at that time.",
  irs_outage: "The IRS’s own service was down.",
  refused: "The provider refused the request.",
  unknown_answer: "The provider’s answer could not be interpreted.",
  out_of_credit: "The operator’s credit with this provider is used up.",
  unusable_name: "The name has no characters that this provider accepts.",
  unaskable: "This provider can’t look up this kind of identifier.",
  ambiguous_cage: "The provider has several vendors with this CAGE code.",
  internal_error: "Something went wrong on our side.",
};

/** Returns the display name of a provider, or its code if this version does not know it. */
export function providerName(code: string): string {
  return providerNames[code] ?? code;
}

/** Returns the explanation of a reason; undefined if this version does not know it. */
export function reasonMeaning(code: string): string | undefined {
  const [, status] = /^http_(\d{3})$/.exec(code) ?? [];
  if (status) return `The provider answered with HTTP status ${status}.`;
  const [, irsCode] = /^irs_code_(\d+)$/.exec(code) ?? [];
  if (irsCode) return `The IRS answered with result code ${irsCode}, which says nothing about the vendor.`;
  return Object.hasOwn(reasons, code) ? reasons[code] : undefined;
}

const UNITS = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;

/** Returns how old data was at the time of the check, in the largest unit that fits at least once. */
export function age(seconds: number): string {
  if (seconds === 0) return "as of the check";
  const [unit, length] = UNITS.find(([, each]) => seconds >= each) ?? (["second", 1] as const);
  const count = Math.floor(seconds / length);
  return `${count} ${unit}${count === 1 ? "" : "s"} old`;
}

export const numberText = (number: number): string => number.toLocaleString("en-US");

/** Returns a duration, such as 4.2 ms, 41 ms or 15.0 s. */
export function durationText(ms: number): string {
  if (ms >= 1_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${ms < 10 && !Number.isInteger(ms) ? ms.toFixed(1) : Math.round(ms)} ms`;
}

/** Returns the host of a webhook URL. */
export function hostOf(webhookUrl: string): string {
  return URL.canParse(webhookUrl) ? new URL(webhookUrl).host : webhookUrl;
}

const planNames: Readonly<Record<string, string>> = {
  starter: "Starter",
  growth: "Growth",
  enterprise: "Enterprise",
};

/** Returns the name of a plan for people. */
export const planName = (plan: string): string => planNames[plan] ?? plan;
