import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import type { Confirmations } from "@vvs/proto/monitor/v1/monitor";
import { exactTime, longDay, utcDay } from "@vvs/registration";
import type { ConfirmedRun } from "./read-confirmed.ts";
import { dataDay } from "./verdict.ts";

/**
 * Returns what scheduled checks found, in words, such as "No change found in our data up to 14:00 UTC. Registration data of 5
 * October 2026, exclusions of today." Without `now`, as in print, all days are dates.
 */
export function noChangeText({ lastAt, dataAsOf }: Pick<Confirmations, "lastAt" | "dataAsOf">, now?: Date): string {
  const { registration, exclusions } = dataAsOf ?? {};
  const dates = [
    registration && `registration data of ${dataDay(timestampDate(registration), now)}`,
    exclusions && `exclusions of ${dataDay(timestampDate(exclusions), now)}`,
  ];
  const known = dates.filter(Boolean).join(", ");
  const data = known && ` ${known[0]!.toUpperCase()}${known.slice(1)}.`;
  return `No change found in our data up to ${momentText(lastAt!, now)}.${data}`;
}

/** Returns the same with the day of the full check before. */
export function confirmedText({ confirmed, at }: Pick<ConfirmedRun, "confirmed" | "at">, now?: Date): string {
  return `${noChangeText(confirmed, now)} Last full check ${longDay(utcDay(timestampDate(at!)))}.`;
}

/** Returns since when scheduled checks confirm nothing, and why. */
export function staleText(since: Timestamp, now: Date): string {
  return `Our data of SAM.gov’s exclusions is too old: since ${momentText(since, now)} scheduled checks confirm nothing.`;
}

/** Returns the same in short, for rows of lists. */
export function staleHint(since: Timestamp, now: Date): string {
  return `Not confirmed since ${momentText(since, now)}: our data is too old.`;
}

/** Returns a moment in UTC; of today only the time. */
function momentText(moment: Timestamp, now: Date | undefined): string {
  const at = timestampDate(moment);
  const [, time] = exactTime(at, "minute").split(/ (.*)/);
  return now && utcDay(at) === utcDay(now) ? time! : `${longDay(utcDay(at))}, ${time}`;
}
