import { hashApiKey, parseApiKey } from "@vvs/api-keys";
import type { SecretKey } from "@vvs/config";
import { ServiceError } from "@vvs/errors";
import type { ApiKeyService } from "@vvs/proto/account/v1/api_keys";
import type { Client } from "@vvs/rpc";
import { type ApiKey, apiKeyOf, hashName } from "../http/api-key.ts";
import type { KeyReplica } from "./key-replica.ts";

/** Maximum age at which the replica is used without asking account, in milliseconds. A revoked key is refused within this time. */
export const FRESH_MS = 5_000;
/** How long a confirmed key stays valid while account is unavailable, in milliseconds. */
export const GRACE_MS = 60_000;
const ASK_TIMEOUT_MS = 1_000;
/** How long account is not asked again after it was unavailable, in milliseconds. Requests do not wait for it meanwhile. */
const UNREACHABLE_MS = 500;
/** Maximum concurrent calls to account for keys that were never known here, so that invalid keys cannot overload account. */
const MAX_UNKNOWN_KEY_CALLS = 20;
/** Maximum number of confirmed keys that are kept. */
const MAX_CONFIRMED = 100_000;

/**
 * Returns the API key of a text, or undefined if it is not valid. `beforeUnknown` is called before account is asked for a key
 * that was never known here. Errors: service_unavailable if it cannot be decided; those of `beforeUnknown`.
 */
export type KeyCheck = (text: string, beforeUnknown?: BeforeUnknown) => Promise<ApiKey | undefined>;

type BeforeUnknown = () => Promise<void> | undefined;

export function createKeyCheck(options: {
  replica: KeyReplica;
  account: Pick<Client<typeof ApiKeyService>, "getApiKey">;
  peppers: readonly SecretKey[];
  /** Milliseconds on a clock that never goes back. */
  clock: () => number;
  now: () => Date;
}): KeyCheck {
  const { replica, clock } = options;
  const confirmed = new Map<string, { key: ApiKey; at: number }>();
  const asking = new Map<string, Promise<ApiKey | undefined>>();
  let unknownCalls = 0;
  let unreachableUntil = Number.NEGATIVE_INFINITY;

  /** Asks account, with one call at a time per key. Errors: any, if account does not answer. */
  function ask(hashes: readonly Uint8Array[]): Promise<ApiKey | undefined> {
    const name = hashName(hashes[0]!);
    const running = asking.get(name);
    if (running) return running;
    if (clock() < unreachableUntil) return Promise.reject(new ServiceError("service_unavailable"));
    const answer = askAccount(hashes, name).finally(() => asking.delete(name));
    asking.set(name, answer);
    return answer;
  }

  async function askAccount(hashes: readonly Uint8Array[], name: string): Promise<ApiKey | undefined> {
    try {
      const call = { timeoutMs: ASK_TIMEOUT_MS, failsFast: true };
      const reply = await options.account.getApiKey({ hashes: [...hashes] }, call);
      const key = apiKeyOf(reply.key!);
      confirmed.delete(name);
      confirmed.set(name, { key, at: clock() });
      if (confirmed.size > MAX_CONFIRMED) confirmed.delete(confirmed.keys().next().value!);
      return key;
    } catch (error) {
      if (error instanceof ServiceError && error.code === "not_found") {
        confirmed.delete(name);
        return undefined;
      }
      unreachableUntil = clock() + UNREACHABLE_MS;
      throw error;
    }
  }

  /** Returns the last confirmed state of the key. Errors: service_unavailable if it is too old. */
  function withoutAccount(known: ApiKey | undefined, name: string, cause: unknown): ApiKey {
    const last = confirmed.get(name);
    const lastAgeMs = last ? clock() - last.at : Number.POSITIVE_INFINITY;
    const replicaAgeMs = known ? replica.ageMs() : Number.POSITIVE_INFINITY;
    if (Math.min(lastAgeMs, replicaAgeMs) > GRACE_MS) throw new ServiceError("service_unavailable", { cause });
    return last && lastAgeMs < replicaAgeMs ? last.key : known!;
  }

  /** Asks account for a key that was never known here. */
  async function askUnknown(hashes: readonly Uint8Array[], beforeUnknown: BeforeUnknown): Promise<ApiKey | undefined> {
    const refusal = beforeUnknown();
    // Not awaited for nothing: concurrent calls with one key ask once.
    if (refusal) await refusal;
    if (unknownCalls >= MAX_UNKNOWN_KEY_CALLS) throw new ServiceError("service_unavailable");
    unknownCalls += 1;
    try {
      return await ask(hashes);
    } catch (cause) {
      throw new ServiceError("service_unavailable", { cause });
    } finally {
      unknownCalls -= 1;
    }
  }

  async function find(hashes: readonly Uint8Array[], beforeUnknown: BeforeUnknown): Promise<ApiKey | undefined> {
    const known = hashes.map((hash) => replica.find(hash)).find((key) => key !== undefined);
    if (known && replica.ageMs() <= FRESH_MS) return known;
    const name = hashName(hashes[0]!);
    const isKnown = known || confirmed.has(name) || asking.has(name);
    if (isKnown) return ask(hashes).catch((error: unknown) => withoutAccount(known, name, error));
    // A new key may be used before it reaches the replica.
    return askUnknown(hashes, beforeUnknown);
  }

  return async (text, beforeUnknown = () => undefined) => {
    if (!parseApiKey(text)) return undefined;
    const hashes = hashApiKey(options.peppers, text).map(({ hash }) => hash);
    const key = await find(hashes, beforeUnknown);
    return key && isUsable(key, options.now()) ? key : undefined;
  };
}

function isUsable({ revoked, expiresAt }: ApiKey, now: Date): boolean {
  return !revoked && (expiresAt === undefined || expiresAt > now);
}
