import { type PartSource, registryDay } from "@vvs/registration";
import type { Asking } from "../../questions/question.ts";
import { ProviderError } from "../provider.ts";

const DAY_MS = 86_400_000;
/** Maximum age of data that fails a vendor where SAM.gov's API can be asked, in days: a vendor may renew any day. */
export const MAX_FAIL_AGE_DAYS = 1;
/** Maximum age of data that shows no exclusion, in days. */
const MAX_PASS_AGE_DAYS = 3;

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
