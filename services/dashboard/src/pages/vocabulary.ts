/** What the codes of checks and providers mean to people. */

const providerNames: Readonly<Record<string, string>> = {
  sam_gov_api: "SAM.gov, asked directly",
  sam_gov_extract: "SAM.gov’s files, as loaded here",
  taxbandits: "TaxBandits",
  compliancely: "Compliancely",
  sandbox_primary: "First sandbox provider",
  sandbox_secondary: "Second sandbox provider",
};

const checkMeanings: Readonly<Record<string, string>> = {
  sam_registration: "Registered in SAM.gov, unexpired and not excluded?",
  tin_match: "Do name and TIN belong together in the IRS’s records?",
};

const reasons: Readonly<Record<string, string>> = {
  not_found: "The source has no such vendor.",
  not_registered: "The vendor has an id, but never registered.",
  excluded: "An exclusion is in force.",
  expired: "The registration has run out.",
  inactive: "The registration is not active.",
  mismatch: "Name and TIN do not belong together.",
  not_issued: "The IRS has issued no such TIN.",
  missing_tin: "No TIN of this vendor is known. Run the check again with one.",
  missing_name: "No name of this vendor is known. Run the check again with one.",
  missing_uei: "Neither a UEI nor a CAGE code of this vendor is known.",
  providers_failed: "No provider could answer. This says nothing about the vendor.",
  stale_source: "The source is older than the question, so it can’t know.",
  timeout: "No complete answer in time.",
  connection: "The connection failed.",
  tls: "TLS failed.",
  too_large: "The answer was larger than is read.",
  wrong_content_type: "The answer was of another type than expected.",
  wrong_shape: "The answer lacked what it must hold.",
  circuit_open: "Not called: it had failed repeatedly.",
  quota_exhausted: "Not called: its quota is used up.",
  registry_unavailable: "The loaded files could not be read.",
  tin_unavailable: "The TIN could not be read.",
  pending: "No verdict in time: it was still being looked up.",
  on_hold: "It could not reach the IRS at that time.",
  irs_outage: "The IRS’s own service was down.",
  refused: "It refused the question.",
  unknown_answer: "It said something that it is not known to say.",
  out_of_credit: "The operator’s credit there is used up.",
  unusable_name: "Nothing of the name can be asked with.",
  unaskable: "It can’t be asked with such an identifier.",
  ambiguous_cage: "Several vendors have this CAGE code there.",
  internal_error: "Something went wrong on our side.",
};

/** A provider's name for people; its code where it has none here. */
export function providerName(code: string): string {
  return providerNames[code] ?? code;
}

/** What a check asks; undefined for one not known here. */
export function checkMeaning(check: string): string | undefined {
  return checkMeanings[check];
}

/** What a reason means; undefined for one not known here. */
export function reasonMeaning(code: string): string | undefined {
  const [, status] = /^http_(\d{3})$/.exec(code) ?? [];
  if (status) return `It answered with HTTP status ${status}.`;
  const [, irsCode] = /^irs_code_(\d+)$/.exec(code) ?? [];
  if (irsCode) return `The IRS’s result code ${irsCode} says nothing about the vendor.`;
  return Object.hasOwn(reasons, code) ? reasons[code] : undefined;
}

const UNITS = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;

/** How old data was when it was used, in the largest unit of which there is at least one. */
export function age(seconds: number): string {
  if (seconds === 0) return "as of the check";
  const [unit, length] = UNITS.find(([, each]) => seconds >= each) ?? (["second", 1] as const);
  const count = Math.floor(seconds / length);
  return `${count} ${unit}${count === 1 ? "" : "s"} old`;
}
