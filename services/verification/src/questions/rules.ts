import { createHash } from "node:crypto";
import {
  addDays,
  dayOfPart,
  effectInForce,
  type PartSource,
  type Parts,
  registryDay,
  startOfRegistryDay,
  startOfUtcDay,
  verdictOf,
} from "@vvs/registration";
import type { PublicAnswer } from "./documents.ts";
import type { KeptAnswer, QuestionKind } from "./question.ts";

export const DAY_MS = 86_400_000;
/** How long an answer other than active is asked for again every day, in days; after that, every week. */
const DAILY_DAYS = 30;
const WEEK_DAYS = 7;
/** The pause before a question whose call failed is asked again, in milliseconds; it doubles with each failure. */
const FIRST_PAUSE_MS = 60_000;
const LONGEST_PAUSE_MS = 6 * 3_600_000;
/** Number of failed calls after which a question shares no call, in case that it makes them fail. */
const FAILURES_UNTIL_SINGLE = 3;

/**
 * Returns when an answer other than active is asked for again: at the start (UTC) of the next day, and after 30 days on the
 * question's own day of the week. So a daily run at any time of the day leads to one question a day, and questions that
 * were first asked on one day are spread over the week.
 */
export function askAgainAt(key: string, askedAt: Date, notActiveSince: Date): Date {
  const start = startOfUtcDay(askedAt).getTime();
  const isLong = askedAt.getTime() - notActiveSince.getTime() >= DAILY_DAYS * DAY_MS;
  const sinceOwnDay = (start / DAY_MS + createHash("sha256").update(key).digest().readUInt16BE(0)) % WEEK_DAYS;
  return new Date(start + (isLong ? WEEK_DAYS - sinceOwnDay : 1) * DAY_MS);
}

/** What SAM.gov answered about one vendor. */
export interface ReceivedAnswer {
  /** The question's key. */
  readonly key: string;
  readonly parts: Parts;
  readonly bodies: PublicAnswer["bodies"];
  readonly askedAt: Date;
  /** When the Exclusions API answered; absent where it was not asked. */
  readonly exclusionsAskedAt?: Date;
}

/** Returns true for an answer that flags exclusions, whose rows were not asked for since the kept answer has them. */
export function lacksRows({ parts, exclusionsAskedAt }: Pick<ReceivedAnswer, "parts" | "exclusionsAskedAt">): boolean {
  return parts.exclusions?.flagged === true && !exclusionsAskedAt;
}

/**
 * Do the kept rows stand for the flag of a new answer? They do for a week, while one of them bars the vendor: so a vendor
 * that stays excluded costs no further pages each day.
 */
export function keptRowsServe(kept: Pick<KeptAnswer, "parts" | "exclusions_asked_at"> | undefined, now: Date): boolean {
  const askedAt = kept?.exclusions_asked_at;
  if (!askedAt || now.getTime() - askedAt.getTime() >= WEEK_DAYS * DAY_MS) return false;
  const exclusions = kept.parts.exclusions?.exclusions ?? [];
  return effectInForce({ flagged: false, exclusions }, registryDay(now)) === "bar";
}

/**
 * Returns what is kept of an answer, after the one that was kept before: an answer that only flags exclusions keeps the rows
 * of that one. An answer other than active has times.
 */
export function publicAnswerAfter(previous: Partial<PublicAnswer> | undefined, received: ReceivedAnswer): PublicAnswer {
  const { key, askedAt, exclusionsAskedAt } = received;
  const rows = lacksRows(received) && previous?.exclusions_asked_at ? previous : undefined;
  const exclusions = rows?.parts?.exclusions?.exclusions;
  const parts = exclusions
    ? { ...received.parts, exclusions: { ...received.parts.exclusions!, exclusions } }
    : received.parts;
  const rowsAskedAt = exclusionsAskedAt ?? rows?.exclusions_asked_at;
  const answer = {
    ...{ _id: key, parts, asked_at: askedAt },
    bodies: [...received.bodies, ...(rows?.bodies?.filter(({ url }) => url.includes("/exclusions?")) ?? [])],
    ...(rowsAskedAt && { exclusions_asked_at: rowsAskedAt }),
  };
  if (verdictOf(parts, registryDay(askedAt))?.status === "active") return answer;
  const not_active_since = expiredSince(parts, askedAt) ?? previous?.not_active_since ?? askedAt;
  return { ...answer, not_active_since, ask_again_at: askAgainAt(key, askedAt, not_active_since) };
}

/** Returns when the registry's day after the expiration date began, where it has. */
function expiredSince({ registration }: Parts, askedAt: Date): Date | undefined {
  const end = registration?.expiration_date;
  return end && end < registryDay(askedAt) ? startOfRegistryDay(addDays(end, 1)) : undefined;
}

/** What a monitor's run knows of the answers to its question. */
export interface RunKnowledge {
  readonly kept: Pick<KeptAnswer, "asked_at" | "ask_again_at"> | undefined;
  /** Its question was asked for this run, and is not asked again for it. */
  readonly wasParked: boolean;
}

/**
 * Returns until when a part that shows something other than active may answer a later run: a part of a file until the end
 * of the registry's day after its date; a part of the API until the end of its UTC day, since each has a quota of its own,
 * and for a run that waited for it one day; and a part that is as new as the kept answer until that one is asked for again.
 */
export function mayFailUntil(part: PartSource, { kept, wasParked }: RunKnowledge): Date {
  const { origin, date } = part;
  const ofApi = () => (wasParked ? date : startOfUtcDay(date)).getTime() + DAY_MS;
  const ofFile = () => startOfRegistryDay(addDays(dayOfPart(part), 2)).getTime();
  const own = origin === "sam_gov_api" ? ofApi() : ofFile();
  const keptUntil = kept?.ask_again_at && date >= kept.asked_at ? kept.ask_again_at.getTime() : 0;
  return new Date(Math.max(own, keptUntil));
}

/** Returns what changes in a question after a call about it only failed: it is asked later, and after some failures always by itself. */
export function afterFailure(
  { failures, kind }: { failures: number; kind: QuestionKind },
  now: Date,
): { failures: number; kind: QuestionKind; not_before: Date } {
  const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(failures, 20), LONGEST_PAUSE_MS);
  return {
    failures: failures + 1,
    kind: failures + 1 >= FAILURES_UNTIL_SINGLE ? "single" : kind,
    not_before: new Date(now.getTime() + pauseMs),
  };
}
