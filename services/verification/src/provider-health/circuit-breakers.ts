import { randomUUID } from "node:crypto";
import type { Logger } from "@vvs/logging";
import type { Db } from "mongodb";
import { ProviderError } from "../providers/provider.ts";
import { orAbort, startTimeLimit } from "../time-limit.ts";
import { type AttemptEvent, type CircuitSettings, phaseOf } from "./circuit.ts";
import { healthOf, type ProviderHealth } from "./provider-health.ts";
import { quotaShutUntil, unknownProvider } from "./provider-state.ts";
import { createProviderStateStore, type ProviderStateStore } from "./provider-state-store.ts";
import { createSharedStates } from "./shared-states.ts";

/** The result of an attempt that was admitted. */
export interface AttemptResult {
  readonly kind: AttemptEvent["kind"];
  readonly shutUntil?: Date;
}

/** Admits or refuses attempts at one environment's providers. */
export interface CircuitBreakers {
  /**
   * Admits an attempt, and returns a function that takes its result. Errors: ProviderError `circuit_open` and
   * `quota_exhausted`: no call may be made.
   */
  admit(provider: string): Promise<(result: AttemptResult) => void>;
  /**
   * Counts one call against the provider's configured quota, before it is made. Without a quota, or while the database is
   * unavailable, the call is allowed and not counted. Errors: ProviderError `quota_exhausted`.
   */
  takeCall(provider: string): Promise<void>;
  /** Returns the health by name, at most a second old; a provider that was never asked is available. */
  health(providers: readonly string[]): Promise<ReadonlyMap<string, ProviderHealth>>;
  /** Stores all results. */
  flush(): Promise<void>;
}

/** Time limit for one database operation, in milliseconds; after it, the breakers go on with what they know. */
const STORE_MS = 500;

export function createCircuitBreakers(options: {
  /** The environment's database. */
  db: Db;
  settings: CircuitSettings;
  /** Calls per UTC day by provider; a provider without a quota is absent. */
  quotas: Readonly<Record<string, number>>;
  now: () => Date;
  logger: Logger;
  /** Time limit for one database operation, in milliseconds; 500 where absent. */
  storeMs?: number;
}): CircuitBreakers {
  const { settings, quotas, now, logger, storeMs = STORE_MS } = options;
  const inTime = <T>(work: Promise<T>) => within(storeMs, work);
  const store = createProviderStateStore({ db: options.db, settings });
  const shared = createSharedStates({ store, settings, now, logger, limit: inTime });

  async function claimProbe(provider: string): Promise<string | undefined> {
    await inTime(shared.flush());
    const probeId = randomUUID();
    const claimed = await inTime(store.claimProbe(provider, probeId, now()));
    if (claimed) shared.adopt(provider, claimed);
    else await shared.refresh({ evenIfFresh: true });
    return claimed && probeId;
  }

  async function admittedAs(provider: string): Promise<string | undefined> {
    if (quotaShutUntil(shared.of(provider), quotas[provider], now())) throw shut("quota_exhausted");
    const phase = () => phaseOf(shared.of(provider).circuit, now());
    if (phase() === "closed") return undefined;
    if (phase() !== "due") throw shut("circuit_open");
    const probeId = await claimProbe(provider).catch((cause: unknown) => {
      throw shut("circuit_open", cause);
    });
    if (!probeId && phase() !== "closed") throw shut("circuit_open");
    return probeId;
  }

  return {
    async admit(provider) {
      await shared.refresh();
      const probeId = await admittedAs(provider);
      return ({ kind, shutUntil }) => {
        shared.note(provider, { kind, at: now(), shutUntil, probeId });
      };
    },
    async takeCall(provider) {
      const quota = quotas[provider];
      if (quota === undefined) return;
      let calls: Awaited<ReturnType<ProviderStateStore["countCall"]>>;
      try {
        calls = await inTime(store.countCall(provider, quota, now()));
      } catch (err) {
        logger.warn({ err, provider }, "a call of a provider could not be counted against its quota");
        return;
      }
      if (!calls) await shared.refresh({ evenIfFresh: true });
      if (!calls) throw shut("quota_exhausted");
      shared.adopt(provider, { ...unknownProvider, calls });
    },
    async health(providers) {
      await shared.refresh();
      const at = now();
      return new Map(providers.map((name) => [name, healthOf(shared.of(name), { settings, quota: quotas[name], at })]));
    },
    flush: () => shared.flush(),
  };
}

async function within<T>(limitMs: number, work: Promise<T>): Promise<T> {
  const limit = startTimeLimit(limitMs);
  try {
    return await orAbort(work, limit.signal, () => new Error("the database did not answer in time"));
  } finally {
    limit.release();
  }
}

function shut(reason: "circuit_open" | "quota_exhausted", cause?: unknown): ProviderError {
  return new ProviderError(reason, { isFault: false, cause });
}
