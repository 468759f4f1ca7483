import type { GetRegistryRecordResponse } from "@vvs/proto/entity/v1/entity";
import { type Exclusion, factsOf, type Parts, registryDay, verdictOf } from "@vvs/registration";
import { type Answer, ProviderError } from "../provider.ts";
import { registrationDetails } from "../result-details.ts";
import { registrationOf } from "../sam-gov/file-parts.ts";
import { irsVerdict } from "../tin-matching/irs-codes.ts";

/** The sandbox's providers, in the order they are asked. */
export type SandboxProvider = "sandbox_primary" | "sandbox_secondary";

/** Its registration is active on odd calls and expired on even ones. */
export const CHANGING_UEI = "SANDBXCHNGE1";
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
  registry: GetRegistryRecordResponse;
  callNumber: number;
  /** When it is asked. */
  at: Date;
}): SandboxVerdict {
  const { provider, uei, registry, callNumber, at } = options;
  if (uei === FAILING_UEI || (uei === FALLBACK_UEI && provider === "sandbox_primary")) throw simulatedOutage();
  if (!registry.record) return { outcome: "fail", reason: "not_found", facts: {}, details: {} };
  const record = uei === CHANGING_UEI ? { ...registry.record, ...registrationAt(callNumber) } : registry.record;
  const source = { origin: provider, date: at, load: "" };
  const parts: Parts = {
    registration: registrationOf(record, source),
    exclusions: { ...source, flagged: false, exclusions: record.excluded ? [EXCLUSION] : [] },
  };
  const today = registryDay(at);
  const verdict = verdictOf(parts, today)!;
  const facts = factsOf(parts, verdict, today);
  const details = registrationDetails(facts, parts);
  return { outcome: verdict.outcome, reason: verdict.reason, facts, details };
}

function registrationAt(callNumber: number) {
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
