import { byKey, createBatcher } from "@vvs/batching";
import { withoutDeadline } from "@vvs/deadline";
import type { Logger } from "@vvs/logging";
import type { Db } from "mongodb";
import type { CallClass, ProviderAccount } from "../providers/call-class.ts";
import { type CallCounts, callQuota } from "./call-quota.ts";
import { createProviderCallsStore, type DayCalls } from "./provider-calls-store.ts";

const DAY_MS = 86_400_000;

/** Maximum number of calls that are counted together. */
const MAX_TOGETHER = 100;

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

  function seenToday(provider: string): DayCalls | undefined {
    const known = seen.get(provider);
    return known && now().getTime() - known.day.getTime() < DAY_MS ? known : undefined;
  }

  /** Counts calls of one class at one provider. Returns which are counted; all of them while the database is unavailable. */
  async function takeTogether(together: readonly { provider: string; callClass: CallClass }[]): Promise<boolean[]> {
    const { provider, callClass } = together[0]!;
    const { fingerprint, quota } = accounts[provider]!;
    try {
      const counting = { callClass, wanted: together.length, quota: quota!, at: now() };
      const counted = await limit(store.count({ provider, fingerprint }, counting));
      see(provider, counted);
      return together.map((_call, place) => place < counted.granted);
    } catch (err) {
      logger.warn({ err, provider }, "calls of a provider could not be counted against its quota");
      return together.map(() => true);
    }
  }

  // Calls that begin while others are being counted share the next write, so that a burst never contends for the document.
  const take = createBatcher({
    run: byKey(({ provider, callClass }) => `${callClass} ${provider}`, takeTogether),
    maxSize: MAX_TOGETHER,
    atOnce: 1,
  });

  return {
    /** Returns true where this replica knows that a class has no calls left today. */
    isUsedUp(provider: string, callClass: CallClass): boolean {
      const quota = accounts[provider]?.quota;
      const calls = seenToday(provider);
      return quota !== undefined && calls !== undefined && callQuota.left(calls, callClass, quota) === 0;
    },
    /**
     * Counts one call before it is made. Returns false, and counts nothing, where its class has no calls left today. Returns
     * true without a quota, and while the database is unavailable: the call is not counted then.
     */
    async take(provider: string, callClass: CallClass): Promise<boolean> {
      if (accounts[provider]?.quota === undefined) return true;
      return withoutDeadline(() => take({ provider, callClass }));
    },
    /**
     * Returns today's calls; undefined without a quota. While the database is unavailable, they are those that this replica
     * has seen.
     */
    async today(provider: string): Promise<CallsToday | undefined> {
      const account = accounts[provider];
      if (account?.quota === undefined) return undefined;
      const { fingerprint, quota } = account;
      const read = await limit(store.read({ provider, fingerprint }, now())).catch(() => undefined);
      if (read) see(provider, read);
      const { direct = 0, first = 0, runs = 0 } = seenToday(provider) ?? {};
      return { direct, first, runs, quota };
    },
  };
}

function totalOf({ direct, first, runs }: CallCounts): number {
  return direct + first + runs;
}
