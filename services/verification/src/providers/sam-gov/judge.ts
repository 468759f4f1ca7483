import { factsOf, type PartSource, type Parts, registryDay, type Verdict, verdictOf } from "@vvs/registration";
import type { Asking } from "../../questions/question.ts";
import { type Answer, ProviderError } from "../provider.ts";
import { registrationDetails } from "../result-details.ts";

const DAY_MS = 86_400_000;
/** Maximum age of data that fails a vendor where SAM.gov's API can be asked, in days: a vendor may renew any day. */
const MAX_FAIL_AGE_DAYS = 1;
/** Maximum age of data that shows no exclusion, in days. */
const MAX_PASS_AGE_DAYS = 3;

/** How a monitor's later run, which asks no API itself, judges parts that show something other than an active vendor. */
export interface RunRule {
  /** Returns until when such a part may be used. */
  readonly usableUntil: (part: PartSource) => Date;
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
  const isTooOld = (part: PartSource) => (run ? now >= run.usableUntil(part) : isOlder(part, MAX_FAIL_AGE_DAYS, now));
  if (!verdict) throw staleSource();
  if (verdict.reason === "excluded") {
    if (run?.asksExclusions && exclusions!.origin === "sam_gov_api" && isTooOld(exclusions!)) throw staleSource();
    return verdict;
  }
  if (verdict.outcome === "fail" && hasApi && isTooOld(registration!)) throw staleSource();
  if (verdict.outcome === "pass" && !canShowPass(exclusions, now)) throw staleSource();
  return verdict;
}

/** Are these exclusions new enough for a pass? */
export function canShowPass(exclusions: PartSource | undefined, now: Date): boolean {
  return exclusions !== undefined && !isOlder(exclusions, MAX_PASS_AGE_DAYS, now);
}

/** Is the part older than this many days? A file covers a whole day, so its age is counted in the registry's days. */
export function isOlder({ origin, date }: PartSource, days: number, now: Date): boolean {
  const until = origin === "sam_gov_api" ? now.getTime() : Date.parse(registryDay(now));
  return until - date.getTime() > days * DAY_MS;
}

/**
 * Returns the error for data that is too old for the question; it does not count as the source's fault. `asking`: what
 * could be asked of the API for a monitor's run.
 */
export function staleSource(asking?: Asking): ProviderError {
  return new ProviderError("stale_source", { isFault: false, asking });
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
