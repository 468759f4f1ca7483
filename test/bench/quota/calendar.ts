/** Milliseconds of a day. Days are numbered from 1970-01-01 in UTC. */
export const DAY_MS = 86_400_000;

/** Returns the number of the UTC day of a moment (milliseconds). */
export function dayAt(moment: number): number {
  return Math.floor(moment / DAY_MS);
}

/** Returns a day as YYYY-MM-DD. */
export function textOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

/** Returns the number of a day given as YYYY-MM-DD. */
export function dayOfText(text: string): number {
  return dayAt(Date.parse(`${text}T00:00:00Z`));
}

/** Returns the newest day, not after this one, on which a monthly extract is cut: the first Sunday of a month. */
export function newestCut(day: number): number {
  let cut = day;
  while (!isFirstSunday(cut)) cut--;
  return cut;
}

function isFirstSunday(day: number): boolean {
  const date = new Date(day * DAY_MS);
  return date.getUTCDay() === 0 && date.getUTCDate() <= 7;
}
