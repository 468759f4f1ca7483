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

/** The result of an attempt, as it is counted. */
export type CountedOutcome =
  | { readonly kind: "answered"; readonly durationMs: number }
  | { readonly kind: "unanswered" };

/** Counts attempts at one environment's providers. */
export interface AttemptCounts {
  /** Counts an attempt in memory, without waiting for the database. */
  count(provider: { readonly name: string; readonly check: Check }, outcome: CountedOutcome): void;
  /** Writes the remaining counts. */
  close(): Promise<void>;
}

export const attemptCountsOf = (db: Db): Collection<AttemptCountDocument> => db.collection("provider_attempts");

/**
 * Counts in memory, and adds the counts to the database every few seconds. Counts whose write fails are lost: that hardly
 * changes the shares, and nothing waits for the database or grows while it is unavailable.
 */
export function startAttemptCounts(options: {
  /** The environment's database. */
  db: Db;
  now: () => Date;
  logger: Logger;
}): AttemptCounts {
  const { now, logger } = options;
  const collection = attemptCountsOf(options.db);
  let counts = new Map<string, PendingCount>();
  let isUnavailable = false;

  async function write(): Promise<void> {
    if (counts.size === 0) return;
    const additions = [...counts.values()].map(addition);
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
    count({ name, check }, outcome) {
      const at = now().getTime();
      const hour = new Date(at - (at % HOUR_MS));
      const id = `${name}:${check}:${hour.toISOString()}`;
      const known = counts.get(id);
      const count = known ?? { _id: id, provider: name, check_type: check, hour, sums: new Map() };
      if (!known) counts.set(id, count);
      add(count.sums, outcome.kind);
      if (outcome.kind === "answered") add(count.sums, `durations.${durationClass(outcome.durationMs)}`);
    },
    async close() {
      clearInterval(timer);
      await writing;
      await write();
    },
  };
}

type PendingCount = Pick<AttemptCountDocument, "_id" | "provider" | "check_type" | "hour"> & {
  readonly sums: Map<string, number>;
};

function add(sums: Map<string, number>, name: string): void {
  sums.set(name, (sums.get(name) ?? 0) + 1);
}

function addition({ _id, sums, ...described }: PendingCount) {
  const update = { $setOnInsert: described, $inc: Object.fromEntries(sums) };
  return { updateOne: { filter: { _id }, update, upsert: true } };
}

const UNANSWERED = new Set(["stale_source", "quota_exhausted", "circuit_open"]);

/**
 * Returns true where an error counts as an attempt without an answer. It does not where only the question was at fault: a
 * client could cause any number of those, and learn from the change of the share how much others ask.
 */
export function isUnanswered(error: unknown): boolean {
  if (!(error instanceof ProviderError)) return true;
  // Attempts that shared a failed call report its fault once, but each of them got no answer.
  const isSharedFault = error.cause instanceof ProviderError && error.cause.isFault;
  return error.isFault || isSharedFault || error.shutUntil !== undefined || UNANSWERED.has(error.reason);
}
