import { DAY_MS } from "./calendar.ts";
import { listedExpiration } from "./files.ts";
import type { Population } from "./population.ts";

/** Days after the end of a registration, or after the first answer without one, in which a vendor is asked about daily. */
const DAILY_DAYS = 30;
/** Days between two questions after that. */
const LATER_DAYS = 7;
/** Age in days up to which an extract is believed that a registration expired. */
const FRESH_DAYS = 1;
/** Hour (UTC) of a day at which its questions are asked here. */
const ASKING_HOUR = 6;

/** What the last answer of SAM.gov about a vendor said. */
interface LastAnswer {
  readonly askedOn: number;
  /** Undefined where it had no registration. */
  readonly expirationDay: number | undefined;
  /** Day since which the vendor has no active registration; undefined while it has. */
  readonly inactiveSince: number | undefined;
}

/**
 * Returns the number of vendors that must be asked about on each day, by anyone who knows the files and all earlier
 * answers, and who asks again on the schedule: daily for 30 days after a registration ended, then weekly. A vendor need
 * not be asked about while the extract, or an answer that is newer than it, shows an unexpired registration; while the
 * exclusions file names the vendor; or while an extract of today or yesterday shows a registration that expired.
 */
export function leastQuestions(options: {
  population: Population;
  /** The vendors that are monitored. */
  vendors: Iterable<number>;
  startDay: number;
  days: number;
  /** Cut day of the extract that is loaded at the beginning of a day, by day. */
  extractCutOn: (day: number) => number;
}): number[] {
  const { population, startDay, days, extractCutOn } = options;
  const questions = new Array<number>(days).fill(0);
  for (const vendor of options.vendors) {
    const listed = listedExpiration(population, vendor, extractCutOn(startDay));
    // Later extracts list it as at least as long: none of these days needs a question.
    if (listed !== undefined && listed >= startDay + days) continue;
    let last: LastAnswer | undefined;
    for (let day = startDay; day < startDay + days; day++) {
      const cut = extractCutOn(day);
      if (isKnown({ population, vendor, day, cut, last }) || !isDue(day, last)) continue;
      questions[day - startDay]!++;
      last = answerOn(population, vendor, day, last);
    }
  }
  return questions;
}

/** Returns the calls that this many vendors cost at least: a hundred of them take 11. */
export function leastCalls(vendors: number): number {
  return Math.ceil((vendors * 11) / 100);
}

function isKnown(asked: {
  population: Population;
  vendor: number;
  day: number;
  cut: number;
  last?: LastAnswer | undefined;
}) {
  const { population, vendor, day, cut, last } = asked;
  // The state of the last midnight is in the day's file.
  if (population.isExcludedAt(vendor, day * DAY_MS)) return true;
  if (last && last.askedOn >= cut) return last.expirationDay !== undefined && last.expirationDay >= day;
  const listed = listedExpiration(population, vendor, cut);
  return listed !== undefined && (listed >= day || day - cut <= FRESH_DAYS);
}

function isDue(day: number, last: LastAnswer | undefined): boolean {
  if (last?.inactiveSince === undefined) return true;
  return day - last.askedOn >= (day - last.inactiveSince <= DAILY_DAYS ? 1 : LATER_DAYS);
}

function answerOn(population: Population, vendor: number, day: number, last: LastAnswer | undefined): LastAnswer {
  const record = population.recordAt(vendor, day * DAY_MS + ASKING_HOUR * 3_600_000);
  if (record.kind !== "registered") {
    return { askedOn: day, expirationDay: undefined, inactiveSince: last?.inactiveSince ?? day };
  }
  const { expirationDay } = record;
  return { askedOn: day, expirationDay, inactiveSince: expirationDay < day ? expirationDay + 1 : undefined };
}
