import type { Logger } from "@vvs/logging";
import { durationClass } from "@vvs/telemetry/durations";
import type { Collection, Db } from "mongodb";
import type { Check } from "../checks.ts";
import { ProviderError } from "./provider.ts";

/** What a replica's crash may lose of the counts. */
const WRITE_EVERY_MS = 5_000;
const HOUR_MS = 60 * 60 * 1000;

/** How one provider did with one check in one hour; it belongs to no tenant. */
export interface AttemptCountDocument {
  /** `<provider>:<check>:<hour>`. */
  readonly _id: string;
  readonly provider: string;
  readonly check_type: Check;
  readonly hour: Date;
  readonly answered?: number;
  readonly unanswered?: number;
  /** Of its answers, by class; those without any are absent. */
  readonly durations?: Readonly<Record<string, number>>;
}

/** What an attempt says of its provider. */
export type CountedOutcome =
  | { readonly kind: "answered"; readonly durationMs: number }
  | { readonly kind: "unanswered" };

/** Counts attempts at one environment's providers. */
export interface AttemptCounts {
  /** Counts at once in memory, and so costs the attempt nothing. */
  count(provider: { readonly name: string; readonly check: Check }, outcome: CountedOutcome): void;
  /** Writes what is left. */
  close(): Promise<void>;
}

export const attemptCountsOf = (db: Db): Collection<AttemptCountDocument> => db.collection("provider_attempts");

/**
 * Counts in memory, and adds it to the database every few seconds. A write that fails is lost: shares hardly change for
 * it, and nothing waits for the database or grows while it is away.
 */
export function startAttemptCounts(options: {
  /** The environment's database. */
  db: Db;
  now: () => Date;
  logger: Logger;
}): AttemptCounts {
  const { now, logger } = options;
  const collection = attemptCountsOf(options.db);
  let counts = new Map<string, Count>();
  let isAway = false;

  async function write(): Promise<void> {
    if (counts.size === 0) return;
    const additions = [...counts.values()].map(addition);
    counts = new Map();
    try {
      await collection.bulkWrite(additions, { ordered: false });
      isAway = false;
    } catch (err) {
      if (!isAway) logger.warn({ err }, "attempts at providers could not be counted");
      isAway = true;
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

type Count = Pick<AttemptCountDocument, "_id" | "provider" | "check_type" | "hour"> & {
  readonly sums: Map<string, number>;
};

function add(sums: Map<string, number>, name: string): void {
  sums.set(name, (sums.get(name) ?? 0) + 1);
}

function addition({ _id, sums, ...described }: Count) {
  const update = { $setOnInsert: described, $inc: Object.fromEntries(sums) };
  return { updateOne: { filter: { _id }, update, upsert: true } };
}

const UNANSWERED = new Set(["stale_source", "quota_exhausted", "circuit_open"]);

/**
 * Does it speak against the provider that it threw this? Not where only the question was to blame: whoever asks could make
 * any number of those, and learn from how the share of answers moves how much others ask.
 */
export function isUnanswered(error: unknown): boolean {
  if (!(error instanceof ProviderError)) return true;
  // Attempts that shared a call tell its fault once; each of them went without an answer.
  const isSharedFault = error.cause instanceof ProviderError && error.cause.isFault;
  return error.isFault || isSharedFault || error.shutUntil !== undefined || UNANSWERED.has(error.reason);
}
