// Two kinds of days, as text (YYYY-MM-DD): the registry's, on which registrations expire and exclusions begin and end, and
// UTC's, by which quotas, budgets and usage are counted. A file's cut date is a date, stored as midnight UTC.

const DAY_MS = 86_400_000;
/** Midnight in Washington, in hours of UTC: in summer, and in the rest of the year. */
const MIDNIGHTS = ["04", "05"] as const;

const inWashington = new Intl.DateTimeFormat("en-US", {
  timeZone: "America/New_York",
  calendar: "gregory",
  numberingSystem: "latn",
  year: "numeric",
  month: "2-digit",
  day: "2-digit",
});

/** The day that was asked for last, and its bounds in milliseconds since 1970: nearly all questions are about today. */
let last = { day: "", begins: 0, ends: 0 };

/** Returns the registry's day at a moment: the date in Washington. Errors: RangeError for an invalid date. */
export function registryDay(moment: Date): string {
  const at = moment.getTime();
  if (!(at >= last.begins && at < last.ends)) {
    const day = dateInWashington(moment);
    const begins = startOfRegistryDay(day).getTime();
    last = { day, begins, ends: startOfRegistryDay(addDays(day, 1)).getTime() };
  }
  return last.day;
}

/** Takes tens of microseconds. */
function dateInWashington(moment: Date): string {
  const parts = inWashington.formatToParts(moment);
  const fieldOf = (wanted: string) => parts.find(({ type }) => type === wanted)?.value ?? "";
  return `${fieldOf("year")}-${fieldOf("month")}-${fieldOf("day")}`;
}

/** Returns the day of a moment in UTC, and the date of a file from the stored start of its cut date. */
export function utcDay(moment: Date): string {
  return moment.toISOString().slice(0, 10);
}

/** Returns whether this is a day of the calendar, as text. Date itself takes the 30th of February for the 2nd of March. */
export function isDay(text: unknown): text is string {
  const time = typeof text === "string" ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(time) && utcDay(new Date(time)) === text;
}

/** Returns the start of a moment's UTC day. */
export function startOfUtcDay(moment: Date): Date {
  return new Date(Math.floor(moment.getTime() / DAY_MS) * DAY_MS);
}

/** Returns the moment at which a registry's day begins: midnight in Washington. */
export function startOfRegistryDay(day: string): Date {
  const [summer, winter] = MIDNIGHTS.map((hour) => new Date(`${day}T${hour}:00:00Z`)) as [Date, Date];
  return dateInWashington(summer) === day ? summer : winter;
}

/** Returns the day that is this many days after another, or before it for a negative number. */
export function addDays(day: string, count: number): string {
  return utcDay(new Date(Date.parse(day) + count * DAY_MS));
}
