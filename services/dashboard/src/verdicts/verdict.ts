import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Check } from "@vvs/checks";
import { reasonMeaning } from "@vvs/checks/words";
import { CheckStatus } from "@vvs/proto/common/v1/common";
import type { ExclusionDetails, ResultDetails } from "@vvs/proto/verification/v1/result_details";
import type { Result } from "@vvs/proto/verification/v1/verification";
import {
  addDays,
  type ExclusionEffect,
  effectInForce,
  isEffect,
  longDay,
  registryDay,
  utcDay,
} from "@vvs/registration";
import { checkTitle } from "../ui/parts.ts";
import type { ConfirmedRun } from "./read-confirmed.ts";

/** The newest result of a check, and when the check was made. */
export interface CheckedResult {
  readonly result: Result;
  readonly at: Date;
  /** The run of a monitor with the scheduled checks that found the same later; absent where there were none. */
  readonly confirmedBy?: ConfirmedRun | undefined;
}

/** What a check says about a vendor. `stale`: it passed, but must be made again. */
export interface Verdict {
  readonly state: "pass" | "fail" | "error" | "stale" | "unchecked";
  /** Whole sentences. */
  readonly text: string;
}

/** Returns whether a result is an answer, rather than an error. */
export const isAnswer = ({ result }: CheckedResult): boolean =>
  result.status === CheckStatus.PASS || result.status === CheckStatus.FAIL;

const DAY_MS = 86_400_000;
/** Maximum age of a passed check, in days, before it must be made again. */
const FRESH_DAYS = 30;

/** What each effect means for the vendor: where the exclusion has begun, and where it begins later. */
const PHRASES: Readonly<Record<string, readonly [begun: string, later: string]>> = {
  bar: ["Excluded from federal awards", "Will be excluded from federal awards"],
  facility: [
    "One of its facilities is excluded from federal awards",
    "One of its facilities will be excluded from federal awards",
  ],
  product: ["Some of its products are restricted", "Some of its products will be restricted"],
};

/** Returns what a check says today about a vendor; `found` is undefined for a check that was never made. */
export function verdictOf(check: Check | undefined, found: CheckedResult | undefined, now: Date): Verdict {
  if (!found) return { state: "unchecked", text: "Not checked yet." };
  const { result, confirmedBy } = found;
  const at = confirmedBy ? timestampDate(confirmedBy.confirmed.lastAt!) : found.at;
  if (result.status === CheckStatus.PASS) return passed(check, result, at, now);
  if (result.status === CheckStatus.FAIL) return { state: "fail", text: failure(check, result, registryDay(now)) };
  return { state: "error", text: reasonMeaning(result.reason) ?? "There was no answer. Verify again." };
}

function passed(check: Check | undefined, result: Result, at: Date, now: Date): Verdict {
  const today = registryDay(now);
  const ends = result.details?.expirationDate ?? "";
  if (check === "sam_registration" && ends !== "" && ends < today) {
    return { state: "stale", text: `The registration in SAM.gov ended on ${longDay(ends)}, after this check.` };
  }
  const begun = begunSince(result.details?.exclusions?.exclusions ?? [], { since: registryDay(at), today });
  if (begun) return { state: "stale", text: `An exclusion began on ${longDay(begun)}, after this check.` };
  const text = passText(check, result, today);
  if (now.getTime() - at.getTime() <= FRESH_DAYS * DAY_MS) return { state: "pass", text };
  return { state: "stale", text: `${text} This was more than ${FRESH_DAYS} days ago.` };
}

function passText(check: Check | undefined, { checkType, reason, details }: Result, today: string): string {
  if (check === "tin_match") return `${askedAbout(details)} match in the IRS’s records.`;
  if (check !== "sam_registration") return `Passed: ${reason || checkTitle(checkType)}.`;
  if (!details) return "Active in SAM.gov, and not excluded.";
  const until = details.expirationDate && ` until ${longDay(details.expirationDate)}`;
  const exclusions = details.exclusions ? ` ${exclusionsText(details.exclusions.exclusions, today)}` : "";
  return `Active in SAM.gov${until}.${exclusions}`;
}

function failure(check: Check | undefined, { reason, details }: Result, today: string): string {
  if (check === "tin_match") {
    if (reason === "mismatch") return `${askedAbout(details)} do not match in the IRS’s records.`;
    if (reason === "not_issued")
      return `The IRS has not issued ${details?.tin ? `the TIN ${details.tin}` : "this TIN"}.`;
  }
  if (check === "sam_registration") {
    if (reason === "excluded") return exclusionsText(details?.exclusions?.exclusions ?? [], today, true);
    if (reason === "expired") return expired(details);
    if (reason === "not_found") return "SAM.gov has no record of this vendor.";
    if (reason === "not_registered") return "The vendor has a UEI, but never completed a registration in SAM.gov.";
    if (reason === "inactive") return "The registration in SAM.gov is not active.";
  }
  return reasonMeaning(reason) ?? (reason ? `Failed: ${reason}.` : "Failed.");
}

/** Names what a TIN match was about, as far as its result says it. */
function askedAbout(details: ResultDetails | undefined): string {
  const { tin = "", name = "" } = details ?? {};
  return `The name${name && ` “${name}”`} and the TIN${tin && ` ${tin}`}`;
}

function expired(details: ResultDetails | undefined): string {
  const on = details?.expirationDate && ` on ${longDay(details.expirationDate)}`;
  return `The registration in SAM.gov expired${on ?? ""}.`;
}

/**
 * Describes exclusions, given in the order of their gravity, on a registry's day. `isExcluded`: the check failed because of
 * them, so where none of them says why, the text does.
 */
function exclusionsText(exclusions: readonly ExclusionDetails[], today: string, isExcluded = false): string {
  const [first, ...others] = exclusions;
  const isSaid = exclusions.some((each) => each.effect !== "product" && each.activeDate <= today);
  const failed = isExcluded && !isSaid ? "Excluded from federal awards." : "";
  if (!first) return failed || "No exclusions.";
  const more =
    others.length > 0
      ? ` There ${others.length === 1 ? "is 1 more exclusion" : `are ${others.length} more exclusions`}.`
      : "";
  return `${failed && `${failed} `}${exclusionText(first, today)}${more}`;
}

/**
 * Returns the strongest effect of the exclusions that a result names and that are in force today; undefined where there is
 * none. A failure for an exclusion is a bar, unless it names a facility's.
 */
export function exclusionEffect({ result }: CheckedResult, now: Date): ExclusionEffect | undefined {
  const exclusions = (result.details?.exclusions?.exclusions ?? []).map(({ effect, activeDate, terminationDate }) => ({
    active_date: activeDate,
    termination_date: terminationDate || "indefinite",
    ...(isEffect(effect) && { effect }),
  }));
  const inForce = effectInForce({ flagged: false, exclusions }, registryDay(now));
  if (result.status !== CheckStatus.FAIL) return inForce;
  if (result.reason !== "excluded") return undefined;
  return inForce === "facility" ? "facility" : "bar";
}

function exclusionText({ effect, agency, type, activeDate, terminationDate }: ExclusionDetails, today: string): string {
  const isLater = activeDate > today;
  // What was stored without an effect counts as a bar.
  const phrase = (PHRASES[effect] ?? PHRASES.bar!)[isLater ? 1 : 0];
  const by = agency && ` by ${agency}`;
  const since = activeDate && ` ${isLater ? "from" : "since"} ${longDay(activeDate)}${isLater ? " on" : ""}`;
  const ends = terminationDate === "indefinite" ? "without an end date" : `until ${longDay(terminationDate)}`;
  const until = terminationDate && `, ${ends}`;
  return `${phrase}${by}${since}${until}${type && `: ${type}`}.`;
}

/**
 * Returns the first day of an exclusion that has begun since a moment and fails the vendor today; undefined where there is
 * none. Days are the registry's.
 */
function begunSince(
  exclusions: readonly ExclusionDetails[],
  { since, today }: { since: string; today: string },
): string | undefined {
  return exclusions.find(
    ({ effect, activeDate: begin, terminationDate: end }) =>
      effect !== "product" && begin > since && begin <= today && (end === "indefinite" || end >= today),
  )?.activeDate;
}

/** Returns the date of the data that a result rests on, which its verification stored at a time; undefined for an error. */
export function dataDate({ result, at }: CheckedResult): Date | undefined {
  if (result.status === CheckStatus.ERROR) return undefined;
  const { dataAsOf } = result.details ?? {};
  return dataAsOf ? timestampDate(dataAsOf) : new Date(at.getTime() - Number(result.dataFreshnessSeconds) * 1_000);
}

/**
 * Returns the day of data in words: "today", "yesterday" or "31 March 2027"; without `now` always the last. A file's cut date
 * is compared with the registry's day, a moment with the day in UTC, since moments are shown in UTC.
 */
export function dataDay(date: Date, now: Date | undefined): string {
  const day = utcDay(date);
  if (!now) return longDay(day);
  const isCutDate = date.getTime() % DAY_MS === 0;
  const today = isCutDate ? registryDay(now) : utcDay(now);
  if (day >= today) return "today";
  return day === addDays(today, -1) ? "yesterday" : longDay(day);
}
