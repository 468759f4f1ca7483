import type { Check } from "@vvs/checks";
import type { Logger } from "@vvs/logging";
import { durationClass } from "@vvs/telemetry/durations";
import type { Collection, Db } from "mongodb";
import { ProviderError } from "../providers/provider.ts";

/** How often counts are written, in milliseconds; a crash loses at most that much. */
const WRITE_EVERY_MS = 5_000;
const HOUR_MS = 60 * 60 * 1000;

/** Counts of one provider, check and hour; they belong to no tenant. */
export interface AttemptCountDocument {
  /** `<provider>:<check>:<hour>`. */
  readonly _id: string;
  readonly provider: string;
  readonly check_type: Check;
  readonly hour: Date;
  readonly answered?: number;
  readonly unanswered?: number;
  /** Number of answers by class of duration; empty classes are absent. */
  readonly durations?: Readonly<Record<string, number>>;
}

/** Counts attempts at one environment's providers. */
export interface AttemptCounts {
  /** Counts an attempt in memory. `answeredMs`: how long the answer took; undefined where there was none. */
  count(provider: { readonly name: string; readonly check: Check }, answeredMs: number | undefined): void;
  /** Writes the remaining counts. */
  close(): Promise<void>;
}

export const attemptCountsOf = (db: Db): Collection<AttemptCountDocument> => db.collection("provider_attempts");

/**
 * Counts in memory, and adds the counts to the environment's database every few seconds. Counts whose write fails are
 * lost: that hardly changes the shares, and nothing waits for the database or grows while it is unavailable.
 */
export function startAttemptCounts(options: { db: Db; now: () => Date; logger: Logger }): AttemptCounts {
  const { now, logger } = options;
  const collection = attemptCountsOf(options.db);
  let counts = new Map<string, PendingCount>();
  let isUnavailable = false;

  async function write(): Promise<void> {
    if (counts.size === 0) return;
    const additions = [...counts].map(([_id, { described, sums }]) => {
      const update = { $setOnInsert: described, $inc: Object.fromEntries(sums) };
      return { updateOne: { filter: { _id }, update, upsert: true } };
    });
    counts = new Map();
    try {
      await collection.bulkWrite(additions, { ordered: false });
      isUnavailable = false;
    } catch (err) {
      if (!isUnavailable) logger.warn({ err }, "attempts at providers could not be counted");
      isUnavailable = true;
    }
  }

  let writing = Promise.resolve();
  const timer = setInterval(() => {
    writing = writing.then(write);
  }, WRITE_EVERY_MS).unref();
  return {
    count({ name, check }, answeredMs) {
      const at = now().getTime();
      const hour = new Date(at - (at % HOUR_MS));
      const id = `${name}:${check}:${hour.toISOString()}`;
      const count = counts.get(id) ?? { described: { provider: name, check_type: check, hour }, sums: new Map() };
      counts.set(id, count);
      const names = answeredMs === undefined ? ["unanswered"] : ["answered", `durations.${durationClass(answeredMs)}`];
      for (const each of names) count.sums.set(each, (count.sums.get(each) ?? 0) + 1);
    },
    async close() {
      clearInterval(timer);
      await writing;
      await write();
    },
  };
}

interface PendingCount {
  readonly described: Pick<AttemptCountDocument, "provider" | "check_type" | "hour">;
  /** What to add, by the name of the field. */
  readonly sums: Map<string, number>;
}

const UNANSWERED = new Set(["stale_source", "quota_exhausted", "circuit_open"]);

/**
 * Returns true where an error counts as an attempt without an answer. It does not where only the question was at fault: a
 * client could cause any number of those, and learn from the change of the share how much others ask.
 */
export function isUnanswered(error: unknown): boolean {
  if (!(error instanceof ProviderError)) return true;
  return error.isFault || error.shutUntil !== undefined || UNANSWERED.has(error.reason);
}
