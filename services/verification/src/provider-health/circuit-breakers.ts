import { randomUUID } from "node:crypto";
import type { Logger } from "@vvs/logging";
import type { Db } from "mongodb";
import { ProviderError } from "../providers/provider.ts";
import { orAbort, withTimeLimit } from "../time-limit.ts";
import { type AttemptResult, type CircuitSettings, phaseOf } from "./circuit.ts";
import { healthOf, isQuotaUsedUp, type ProviderHealth, type ProviderState, unknownProvider } from "./provider-state.ts";
import { createProviderStateStore } from "./provider-state-store.ts";
import { createSharedStates } from "./shared-states.ts";

/** Admits or refuses attempts at one environment's providers. */
export interface CircuitBreakers {
  /**
   * Admits an attempt, and returns a function that takes its result. Errors: ProviderError `circuit_open` and
   * `quota_exhausted`: no call may be made.
   */
  admit(provider: string): Promise<(result: Pick<AttemptResult, "kind" | "shutUntil">) => void>;
  /**
   * Counts one call against the provider's configured quota, before it is made. Without a quota, or while the database is
   * unavailable, the call is allowed and not counted. Errors: ProviderError `quota_exhausted`.
   */
  takeCall(provider: string): Promise<void>;
  /** Returns a provider's health, at most a second old; one that was never asked is available. */
  health(provider: string): Promise<ProviderHealth>;
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
  const late = () => new Error("the database did not answer in time");
  const limit = <T>(work: Promise<T>) => withTimeLimit(storeMs, undefined, (signal) => orAbort(work, signal, late));
  const store = createProviderStateStore(options);
  const shared = createSharedStates({ store, settings, now, logger, limit });

  async function claimProbe(provider: string): Promise<string | undefined> {
    await limit(shared.flush());
    const probeId = randomUUID();
    const claimed = await limit(store.claimProbe(provider, probeId, now()));
    if (claimed) shared.adopt(provider, claimed);
    else await shared.refresh({ evenIfFresh: true });
    return claimed && probeId;
  }

  /** Returns the id of the probe where the attempt is one. Errors: those of `admit`. */
  async function admitAs(provider: string): Promise<string | undefined> {
    if (isQuotaUsedUp(shared.of(provider), quotas[provider], now())) throw refusal("quota_exhausted");
    const phase = () => phaseOf(shared.of(provider).circuit, now());
    if (phase() === "closed") return undefined;
    if (phase() !== "due") throw refusal("circuit_open");
    const probeId = await claimProbe(provider).catch((cause: unknown) => {
      throw refusal("circuit_open", cause);
    });
    if (!probeId && phase() !== "closed") throw refusal("circuit_open");
    return probeId;
  }

  return {
    async admit(provider) {
      await shared.refresh();
      const probeId = await admitAs(provider);
      return ({ kind, shutUntil }) => shared.add(provider, { kind, at: now(), shutUntil, probeId });
    },
    async takeCall(provider) {
      const quota = quotas[provider];
      if (quota === undefined) return;
      let calls: ProviderState["calls"];
      try {
        calls = await limit(store.countCall(provider, quota, now()));
      } catch (err) {
        logger.warn({ err, provider }, "a call of a provider could not be counted against its quota");
        return;
      }
      if (calls) return shared.adopt(provider, { ...unknownProvider, calls });
      await shared.refresh({ evenIfFresh: true });
      throw refusal("quota_exhausted");
    },
    async health(provider) {
      await shared.refresh();
      return healthOf(shared.of(provider), { settings, quota: quotas[provider], at: now() });
    },
    flush: shared.flush,
  };
}

function refusal(reason: "circuit_open" | "quota_exhausted", cause?: unknown): ProviderError {
  return new ProviderError(reason, { isFault: false, cause });
}
