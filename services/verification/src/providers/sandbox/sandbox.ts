import type { RegistryAnswer } from "@vvs/proto/entity/v1/entity";
import { addDays, type Exclusion, factsOf, type Parts, registryDay, verdictOf } from "@vvs/registration";
import type { SameName } from "../../documents.ts";
import { type Answer, type KnownExclusions, ProviderError } from "../provider.ts";
import { registrationDetails } from "../result-details.ts";
import { registrationOf } from "../sam-gov/file-parts.ts";
import { irsVerdict } from "../tin-matching/irs-codes.ts";

/** The sandbox's providers, in the order they are asked. */
export type SandboxProvider = "sandbox_primary" | "sandbox_secondary";

/** Its registration is active on odd calls and expired on even ones. */
export const CHANGING_UEI = "SANDBXCHNGE1";
/** Their registrations are active, and end so many days after each call. */
const EXPIRING_DAYS: ReadonlyMap<string, number> = new Map([
  ["SANDBXEXP10D", 10],
  ["SANDBXEXP40D", 40],
  ["SANDBXEXP80D", 80],
]);
/** An exclusion without identifiers bears its name, and so the name of any vendor that is called so. */
const SAME_NAME_UEI = "SANDBXSAMEN2";
const FAILING_UEI = "SANDBXERRR01";
const FALLBACK_UEI = "SANDBXFALLB1";

// Expiration dates far from today, so that the answers do not change as time passes.
const FUTURE = "2099-03-31";
const PAST = "2021-03-31";

/** The exclusion of each excluded vendor. */
const EXCLUSION: Exclusion = {
  program: "Reciprocal",
  type: "Ineligible (Proceedings Completed)",
  agency: "GENERAL SERVICES ADMINISTRATION",
  active_date: PAST,
  termination_date: "indefinite",
  effect: "bar",
};

const SAME_NAME: SameName = {
  name: "SANDBOX SAME NAME LLC",
  program: "Reciprocal",
  type: "Prohibition/Restriction",
  agency: "HHS",
  active_date: PAST,
  termination_date: "indefinite",
};

/** The verdict of a sandbox provider. */
export type SandboxVerdict = Pick<Answer, "outcome" | "reason" | "facts" | "details">;

/**
 * Returns the sandbox's verdict on sam_registration. The documented UEIs behave as documented; the verdict on any other
 * vendor follows its entry in the synthetic registry, and is `not_found` without one. `callNumber` counts from 1 and
 * matters only for the changing UEI. Errors: ProviderError for the UEIs that simulate an outage.
 */
export function sandboxRegistration(options: {
  provider: SandboxProvider;
  uei: string;
  /** The name that is asked with; absent or "" where there is none. */
  legalName?: string;
  registry: RegistryAnswer;
  callNumber: number;
  /** When it is asked. */
  at: Date;
}): SandboxVerdict {
  const { provider, uei, legalName = "", registry, callNumber, at } = options;
  if (uei === FAILING_UEI || (uei === FALLBACK_UEI && provider === "sandbox_primary")) throw simulatedOutage();
  if (!registry.record) return { outcome: "fail", reason: "not_found", facts: {}, details: {} };
  const today = registryDay(at);
  const record = { ...registry.record, ...documentedRegistration(uei, callNumber, today) };
  const source = { origin: provider, date: at, load: "" };
  const parts: Parts = {
    registration: registrationOf(record, source),
    exclusions: { ...source, flagged: false, exclusions: record.excluded ? [EXCLUSION] : [] },
  };
  const verdict = verdictOf(parts, today)!;
  const facts = factsOf(parts, verdict, today);
  const details = {
    ...registrationDetails(facts, parts),
    ...(bearsSameName(uei, [legalName]) && { same_name: [SAME_NAME] }),
  };
  return { outcome: verdict.outcome, reason: verdict.reason, facts, details };
}

/** Returns what the synthetic registry says of the exclusions of a vendor with these names. */
export function sandboxExclusions(uei: string, names: readonly string[], { record }: RegistryAnswer): KnownExclusions {
  return { isExcluded: record?.excluded === true, sameName: bearsSameName(uei, names) ? "found" : "none" };
}

/** Returns whether a vendor bears the name of the exclusion without identifiers, with or without its legal form. */
function bearsSameName(uei: string, names: readonly string[]): boolean {
  const isSame = (name: string) =>
    /^(?:THE)?SANDBOXSAMENAME(?:LLC|LIMITEDLIABILITYCOMPANY)?$/.test(
      name.toUpperCase().replaceAll(/[^\p{L}\p{N}]/gu, ""),
    );
  return uei === SAME_NAME_UEI || names.some(isSame);
}

/** Returns what the documentation says about the registration of a UEI; nothing for those that only the registry knows. */
function documentedRegistration(uei: string, callNumber: number, today: string) {
  const days = EXPIRING_DAYS.get(uei);
  if (days !== undefined) return { extractCode: "A", expirationDate: addDays(today, days) };
  if (uei !== CHANGING_UEI) return {};
  return callNumber % 2 === 1
    ? { extractCode: "A", expirationDate: FUTURE }
    : { extractCode: "E", expirationDate: PAST };
}

/**
 * Returns the sandbox's verdict on tin_match. The TIN's last digit is the IRS's result code; 9 simulates an outage of the
 * first provider. Errors: ProviderError for codes that say nothing about the vendor.
 */
export function sandboxTinMatch(provider: SandboxProvider, tin: string): SandboxVerdict {
  const digit = tin.slice(-1);
  if (digit === "9" && provider === "sandbox_primary") throw simulatedOutage();
  return { ...irsVerdict(digit === "9" ? 0 : Number(digit)), facts: {} };
}

/** The client chose this outage by its identifiers, so it does not count against the provider's health. */
function simulatedOutage(): ProviderError {
  return new ProviderError("http_503", { isFault: false });
}
