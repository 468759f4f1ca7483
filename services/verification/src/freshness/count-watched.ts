import type { WatchCollections, WatchedCount } from "../questions/watch-documents.ts";
import { allFreshPriorities, type FreshPriority, freshPriorities, maxAgeMs } from "../questions/watch-frequency.ts";

/** The counted ages, youngest first, in milliseconds. */
const ages = {
  hour_old: maxAgeMs(freshPriorities.hourly),
  day_old: maxAgeMs(freshPriorities.daily),
  week_old: maxAgeMs(freshPriorities.weekly),
  month_old: maxAgeMs(freshPriorities.monthly),
  vendors: Number.POSITIVE_INFINITY,
} as const;

/**
 * Counts the watched vendors by frequency and by the age of their data. It reads one key of an index for each vendor and no
 * documents, in turn rather than at the same time.
 */
export async function countWatched({ watched }: Pick<WatchCollections, "watched">, now: Date): Promise<WatchedCount[]> {
  const counts: WatchedCount[] = [];
  for (const priority of allFreshPriorities) counts.push(await countOf(priority));
  return counts;

  async function countOf(priority: FreshPriority): Promise<WatchedCount> {
    const counted: [string, number][] = [];
    let total = 0;
    let before = {};
    for (const [age, ms] of Object.entries(ages)) {
      const since = new Date(Math.max(0, now.getTime() - ms));
      total += await watched.countDocuments({ priority, as_of: { $gte: since, ...before } });
      counted.push([age, total]);
      before = { $lt: since };
    }
    return { priority, ...(Object.fromEntries(counted) as Record<keyof typeof ages, number>) };
  }
}
