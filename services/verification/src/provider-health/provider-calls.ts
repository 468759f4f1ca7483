import type { Logger } from "@vvs/logging";
import type { Db } from "mongodb";
import type { CallClass } from "../providers/call-class.ts";
import { type CallCounts, callsLeft } from "./call-quota.ts";
import { createProviderCallsStore, DAY_MS, type DayCalls } from "./provider-calls-store.ts";

/** What a provider's calls are counted by. */
export interface ProviderAccount {
  /** Identifies the key without revealing it. Another key has another count. */
  readonly fingerprint: string;
  /** HTTP calls per UTC day; undefined where none is configured: calls are not counted then. */
  readonly quota: number | undefined;
}

/** The calls of a provider's key today, and its quota. */
export interface CallsToday extends CallCounts {
  readonly quota: number;
}

/** Counts the HTTP calls of one environment's providers against their quotas, for all replicas. */
export function createProviderCalls(options: {
  db: Db;
  /** Accounts by provider; a provider without a key is absent. */
  accounts: Readonly<Record<string, ProviderAccount>>;
  now: () => Date;
  logger: Logger;
  /** Rejects where a database operation takes too long. */
  limit: <T>(work: Promise<T>) => Promise<T>;
}) {
  const { accounts, now, logger, limit } = options;
  const store = createProviderCallsStore(options.db);
  /** The newest counts that this replica has seen. Within a day they only grow. */
  const seen = new Map<string, DayCalls>();

  function see(provider: string, calls: DayCalls): void {
    const known = seen.get(provider);
    const isSameDay = known?.day.getTime() === calls.day.getTime();
    const isNewer = !known || (isSameDay ? totalOf(calls) >= totalOf(known) : calls.day > known.day);
    if (isNewer) seen.set(provider, calls);
  }

  /** Returns the day to count in: today, or the next day where it has begun by another replica's clock. */
  function dayOf(provider: string): Date {
    const known = seen.get(provider);
    return known && known.day > now() ? known.day : now();
  }

  function seenToday(provider: string): DayCalls | undefined {
    const known = seen.get(provider);
    return known && now().getTime() - known.day.getTime() < DAY_MS ? known : undefined;
  }

  return {
    /** Returns true where this replica knows that a class has no calls left today. */
    isUsedUp(provider: string, callClass: CallClass): boolean {
      const quota = accounts[provider]?.quota;
      const calls = seenToday(provider);
      return quota !== undefined && calls !== undefined && callsLeft(calls, callClass, quota) === 0;
    },
    /**
     * Counts one call before it is made. Returns false, and counts nothing, where its class has no calls left today. Returns
     * true without a quota, and while the database is unavailable: the call is not counted then.
     */
    async take(provider: string, callClass: CallClass): Promise<boolean> {
      const account = accounts[provider];
      if (account?.quota === undefined) return true;
      const { fingerprint, quota } = account;
      try {
        const counting = store.count({ provider, fingerprint }, { callClass, quota, at: dayOf(provider) });
        const { counted, calls } = await limit(counting);
        see(provider, calls);
        return counted;
      } catch (err) {
        logger.warn({ err, provider }, "a call of a provider could not be counted against its quota");
        return true;
      }
    },
    /**
     * Returns today's calls; undefined without a quota. While the database is unavailable, they are those that this replica
     * has seen.
     */
    async today(provider: string): Promise<CallsToday | undefined> {
      const account = accounts[provider];
      if (account?.quota === undefined) return undefined;
      const { fingerprint, quota } = account;
      const read = await limit(store.read({ provider, fingerprint }, dayOf(provider))).catch(() => undefined);
      if (read) see(provider, read);
      const { direct = 0, first = 0, runs = 0 } = seenToday(provider) ?? {};
      return { direct, first, runs, quota };
    },
  };
}

function totalOf({ direct, first, runs }: CallCounts): number {
  return direct + first + runs;
}
