import { hashApiKey, parseApiKey } from "@vvs/api-keys";
import type { SecretKey } from "@vvs/config";
import { ServiceError } from "@vvs/errors";
import type { AccountService } from "@vvs/proto/account/v1/account";
import type { Client } from "@vvs/rpc";
import { type ApiKey, apiKeyOf, hashName } from "./api-key.ts";
import type { KeyReplica } from "./key-replica.ts";

/** Up to this age the replica alone decides; a key revoked before is refused by then. */
export const FRESH_MS = 5_000;
/** With account out of reach, what was confirmed so long ago still counts. */
export const GRACE_MS = 60_000;
const ASK_TIMEOUT_MS = 1_000;
/** After account could not be reached, keys are not held up by asking it again for so long. */
const UNREACHABLE_MS = 500;
/** Questions about keys that a fresh replica does not know: made-up keys must not become a load on account. */
const MAX_DOUBTS = 20;
/** Answers kept for the grace; more keys than that are not in use at one gateway within a minute. */
const MAX_CONFIRMED = 100_000;

export interface KeyCheckOptions {
  readonly replica: KeyReplica;
  readonly account: Pick<Client<typeof AccountService>, "getApiKey">;
  readonly peppers: readonly SecretKey[];
  /** Milliseconds on a clock that never goes back. */
  readonly clock: () => number;
  readonly now: () => Date;
}

/** The key that a text is, undefined where it is none that works. Errors: service_unavailable where nobody can tell. */
export type KeyCheck = (text: string) => Promise<ApiKey | undefined>;

export function createKeyCheck(options: KeyCheckOptions): KeyCheck {
  const { replica, clock } = options;
  const confirmed = new Map<string, { key: ApiKey; at: number }>();
  const asking = new Map<string, Promise<ApiKey | undefined>>();
  let unreachableUntil = Number.NEGATIVE_INFINITY;

  /** Account's own word, one question at a time per key. Errors: any, where it can't be had. */
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
      const reply = await options.account.getApiKey({ hashes: [...hashes] }, { timeoutMs: ASK_TIMEOUT_MS });
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

  /** What was last known, where that is recent enough. Errors: service_unavailable. */
  function withoutAccount(known: ApiKey | undefined, name: string, cause: unknown): ApiKey {
    const asked = confirmed.get(name);
    const askedAgeMs = asked ? clock() - asked.at : Number.POSITIVE_INFINITY;
    const replicaAgeMs = known ? replica.ageMs() : Number.POSITIVE_INFINITY;
    if (Math.min(askedAgeMs, replicaAgeMs) > GRACE_MS) throw new ServiceError("service_unavailable", { cause });
    return asked && askedAgeMs < replicaAgeMs ? asked.key : known!;
  }

  async function find(hashes: readonly Uint8Array[]): Promise<ApiKey | undefined> {
    const known = hashes.map((hash) => replica.find(hash)).find((key) => key !== undefined);
    if (replica.ageMs() <= FRESH_MS) {
      // A key may be used sooner after its creation than the replica hears of it.
      if (known || asking.size >= MAX_DOUBTS) return known;
      return ask(hashes).catch(() => undefined);
    }
    return ask(hashes).catch((error: unknown) => withoutAccount(known, hashName(hashes[0]!), error));
  }

  return async (text) => {
    if (!parseApiKey(text)) return undefined;
    const key = await find(hashApiKey(options.peppers, text).map(({ hash }) => hash));
    return key && isUsable(key, options.now()) ? key : undefined;
  };
}

function isUsable({ revoked, expiresAt }: ApiKey, now: Date): boolean {
  return !revoked && (expiresAt === undefined || expiresAt > now);
}
