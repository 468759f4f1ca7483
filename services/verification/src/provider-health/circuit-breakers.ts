import { randomUUID } from "node:crypto";
import type { Logger } from "@vvs/logging";
import { within } from "@vvs/retry";
import type { Db } from "mongodb";
import type { CallClass, ProviderAccount } from "../providers/call-class.ts";
import { ProviderError } from "../providers/provider.ts";
import { callQuota, freshCallsLeft } from "./call-quota.ts";
import { type AttemptResult, type CircuitSettings, phaseOf } from "./circuit.ts";
import { createProviderCalls } from "./provider-calls.ts";
import { healthOf, isShut, NO_KEY, type ProviderHealth } from "./provider-state.ts";
import { createProviderStateStore } from "./provider-state-store.ts";
import { createSharedStates } from "./shared-states.ts";

/** Admits or refuses attempts at one environment's providers. */
export interface CircuitBreakers {
  /**
   * Admits an attempt whose calls have this class, and returns a function that takes its result. `input` identifies what it
   * asks about, and reveals nothing of it; undefined where it asks about several vendors. Errors: ProviderError
   * `circuit_open` and `quota_exhausted`: no call may be made.
   */
  admit(
    provider: string,
    callClass: CallClass,
    input: string | undefined,
  ): Promise<(result: Pick<AttemptResult, "kind" | "shutUntil">) => void>;
  /**
   * Counts one HTTP call against the provider's configured quota, before it is made. Without a quota, or while the database
   * is unavailable, the call is allowed and not counted. Errors: ProviderError `quota_exhausted` where the class has no
   * calls left today.
   */
  takeCall(provider: string, callClass: CallClass): Promise<void>;
  /** Returns how many HTTP calls a class may still make today; undefined where unknown. */
  left(provider: string, callClass: CallClass): Promise<number | undefined>;
  /** Returns how many HTTP calls may still be made today only to keep data fresh (call-quota.ts); 0 where unknown. */
  leftForFreshness(provider: string, heldForRuns: number): Promise<number>;
  /** Returns a provider's health, at most a second old; one that was never asked is available. */
  health(provider: string): Promise<ProviderHealth>;
  /** Stores all results. */
  flush(): Promise<void>;
}

/** Time limit for one database operation, in milliseconds; after it, the breakers continue with what they know. */
const STORE_MS = 500;

export function createCircuitBreakers(options: {
  /** The environment's database. */
  db: Db;
  settings: CircuitSettings;
  /** The keys in use and their quotas by provider; a provider without a key is absent. */
  accounts: Readonly<Record<string, ProviderAccount>>;
  now: () => Date;
  logger: Logger;
  /** Time limit for one database operation, in milliseconds; 500 where absent. */
  storeMs?: number;
}): CircuitBreakers {
  const { settings, accounts, now, logger, storeMs = STORE_MS } = options;
  const limit = <T>(work: Promise<T>) => within(storeMs, "the database did not answer in time", work);
  const store = createProviderStateStore(options);
  const shared = createSharedStates({ store, settings, now, logger, limit });
  const calls = createProviderCalls({ ...options, limit });
  const keyOf = (provider: string) => accounts[provider]?.fingerprint ?? NO_KEY;
  const isRefused = (provider: string) => isShut(shared.of(provider), keyOf(provider), now());

  async function claimProbe(provider: string, input: string | undefined): Promise<string | undefined> {
    await limit(shared.flush());
    const probeId = randomUUID();
    const claimed = await limit(store.claimProbe(provider, { probeId, input, at: now() }));
    if (claimed) shared.adopt(provider, claimed);
    else await shared.refresh({ evenIfFresh: true });
    return claimed && probeId;
  }

  /** Returns the id of the probe where the attempt is one. Errors: those of `admit`. */
  async function admitAs(
    provider: string,
    callClass: CallClass,
    input: string | undefined,
  ): Promise<string | undefined> {
    if (isRefused(provider) || calls.isUsedUp(provider, callClass)) throw refusal("quota_exhausted");
    const phase = () => phaseOf(shared.of(provider).circuit, now(), input);
    if (phase() === "closed") return undefined;
    if (phase() !== "due") throw refusal("circuit_open");
    const probeId = await claimProbe(provider, input).catch((cause: unknown) => {
      throw refusal("circuit_open", cause);
    });
    if (!probeId && phase() !== "closed") throw refusal("circuit_open");
    return probeId;
  }

  return {
    async admit(provider, callClass, input) {
      await shared.refresh();
      const probeId = await admitAs(provider, callClass, input);
      const key = keyOf(provider);
      return ({ kind, shutUntil }) => shared.add(provider, { kind, at: now(), input, shutUntil, key, probeId });
    },
    async takeCall(provider, callClass) {
      if (!(await calls.take(provider, callClass))) throw refusal("quota_exhausted");
    },
    async left(provider, callClass) {
      const [today] = await Promise.all([calls.today(provider), shared.refresh()]);
      return isRefused(provider) ? 0 : today && callQuota.left(today, callClass, today.quota);
    },
    async leftForFreshness(provider, heldForRuns) {
      const [today] = await Promise.all([calls.today(provider), shared.refresh()]);
      return isRefused(provider) || !today ? 0 : freshCallsLeft(today, heldForRuns, today.quota);
    },
    async health(provider) {
      const [today] = await Promise.all([calls.today(provider), shared.refresh()]);
      return healthOf(shared.of(provider), { settings, key: keyOf(provider), calls: today, at: now() });
    },
    flush: shared.flush,
  };
}

function refusal(reason: "circuit_open" | "quota_exhausted", cause?: unknown): ProviderError {
  return new ProviderError(reason, { isFault: false, cause });
}
