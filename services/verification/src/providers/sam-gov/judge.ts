import { factsOf, type PartSource, type Parts, registryDay, type Verdict, verdictOf } from "@vvs/registration";
import type { Answer } from "../provider.ts";
import { registrationDetails } from "../result-details.ts";
import { canShowPass, isOlder, MAX_FAIL_AGE_DAYS, staleSource } from "./stale-data.ts";

/** How a monitor's later run, which asks no API itself, judges parts that show something other than an active vendor. */
export interface RunRule {
  /** Returns until when such a part may be used. */
  readonly mayFailUntil: (part: PartSource) => Date;
  /** Exclusions that only the API knows are asked for again. */
  readonly asksExclusions: boolean;
}

/**
 * Returns today's verdict on a vendor's parts. An exclusion in force fails the vendor at any age of the data. A pass needs
 * exclusions that are at most 3 days old. Any other fail needs a registration that is at most a day old, where SAM.gov's
 * API is configured (`hasApi`), so that newer data can be asked for; later runs of monitors have a rule of their own.
 * Errors: ProviderError `stale_source` where the parts are too old or do not suffice.
 */
export function judge(
  parts: Parts,
  { now, hasApi, run }: { now: Date; hasApi: boolean; run?: RunRule | undefined },
): Verdict {
  const verdict = verdictOf(parts, registryDay(now));
  const { registration, exclusions } = parts;
  const isTooOld = (part: PartSource) => (run ? now >= run.mayFailUntil(part) : isOlder(part, MAX_FAIL_AGE_DAYS, now));
  if (!verdict) throw staleSource();
  if (verdict.reason === "excluded") {
    if (run?.asksExclusions && exclusions!.origin === "sam_gov_api" && isTooOld(exclusions!)) throw staleSource();
    return verdict;
  }
  if (verdict.outcome === "fail" && hasApi && isTooOld(registration!)) throw staleSource();
  if (verdict.outcome === "pass" && !canShowPass(exclusions, now)) throw staleSource();
  return verdict;
}

/** Returns the answer for parts. Its origin is the registration part's; its date is the older one of both. */
export function answerFrom(parts: Parts, verdict: Verdict, content: string, now: Date): Answer {
  const { registration, exclusions } = parts;
  const facts = factsOf(parts, verdict, registryDay(now));
  const dates = [registration, exclusions].flatMap((part) => part?.date.getTime() ?? []);
  return {
    outcome: verdict.outcome,
    reason: verdict.reason,
    confidence: 1,
    ...(registration && { origin: registration.origin }),
    dataDate: new Date(Math.min(...dates)),
    facts,
    details: registrationDetails(facts, parts),
    parts,
    content,
    contentType: "application/json",
  };
}
