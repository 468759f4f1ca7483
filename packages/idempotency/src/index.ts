import { ServiceError } from "@vvs/errors";
import { isDuplicateKey } from "@vvs/mongo";
import type { Idempotency } from "@vvs/proto/common/v1/common";
import type { Tenant } from "@vvs/tenant";
import { Binary, type ClientSession, type Collection, type Db } from "mongodb";

/** How long the first answer is given again. */
const KEPT_SECONDS = 24 * 60 * 60;

interface IdempotencyDocument {
  /** API key, path and key: the three that make a call the same. */
  readonly _id: { readonly api_key_id: string; readonly path: string; readonly key: string };
  readonly organization_id: string;
  readonly body_hash: Binary;
  readonly state: "running" | "done";
  /** While running: whoever holds it must have ended by then. */
  readonly leased_until: Date;
  /** When done: what the first call made. */
  readonly resource_id?: string;
  readonly created_at: Date;
}

/** The outcome of an idempotent call: made now, or made by an earlier one. */
export interface Outcome<T> {
  readonly value: T;
  readonly replayed: boolean;
}

export interface IdempotentCall<T> {
  readonly tenant: Tenant;
  /** What the client sent; absent where it sent no key. */
  readonly idempotency: Idempotency | undefined;
  /** Does the work. `complete` must be called inside the transaction that writes the effect. */
  readonly run: (complete: (session: ClientSession, resourceId: string) => Promise<void>) => Promise<T>;
  /** Renders an earlier effect again. */
  readonly replay: (resourceId: string) => Promise<T>;
}

export interface IdempotencyStore {
  /**
   * Runs a call at most once per key. Errors: idempotency_mismatch (the key was used with another body),
   * idempotency_conflict (the first call still runs), and whatever `run` throws, after which the key is free again.
   */
  once<T>(call: IdempotentCall<T>): Promise<Outcome<T>>;
}

/** Creates the collection and its index; a migration step, never done by traffic. */
export async function migrateIdempotency(db: Db): Promise<void> {
  await db.collection("idempotency_keys").createIndex({ created_at: 1 }, { expireAfterSeconds: KEPT_SECONDS });
}

/** Idempotency keys kept in the database of the service that owns the effect; `leaseMs` is the longest a call may run. */
export function createIdempotencyStore(options: { db: Db; leaseMs: number; now: () => Date }): IdempotencyStore {
  const keys = options.db.collection<IdempotencyDocument>("idempotency_keys");
  return {
    async once({ tenant, idempotency, run, replay }) {
      if (!idempotency) return { value: await run(async () => undefined), replayed: false };
      const claim = claimOf(tenant, idempotency, options);
      const earlier = await take(keys, options.now(), claim);
      if (earlier) return { value: await replay(resourceOf(earlier, idempotency)), replayed: true };
      const mine = { ...keyOf(claim), state: "running" as const, leased_until: claim.leased_until };
      let completed = false;
      try {
        const value = await run(async (session, resourceId) => {
          const done = await keys.updateOne(mine, { $set: { state: "done", resource_id: resourceId } }, { session });
          // Another call took the key after the lease: this effect must not happen as well.
          if (done.matchedCount === 0) throw new ServiceError("idempotency_conflict");
          completed = true;
        });
        if (!completed) throw new Error("an idempotent call wrote its effect without completing its key");
        return { value, replayed: false };
      } catch (error) {
        await keys.deleteOne(mine).catch(() => undefined); // where that fails too, the key is free after the lease
        throw error;
      }
    },
  };
}

function claimOf(
  tenant: Tenant,
  { apiKeyId, path, key, bodyHash }: Idempotency,
  { now, leaseMs }: { now: () => Date; leaseMs: number },
): IdempotencyDocument {
  const at = now();
  return {
    _id: { api_key_id: apiKeyId, path, key },
    organization_id: tenant.organizationId,
    body_hash: new Binary(bodyHash),
    state: "running",
    leased_until: new Date(at.getTime() + leaseMs),
    created_at: at,
  };
}

function keyOf({ _id, organization_id }: IdempotencyDocument) {
  return { _id, organization_id };
}

/** Takes the key, or one whose holder's lease is over; returns the record that has it otherwise. */
async function take(
  keys: Collection<IdempotencyDocument>,
  now: Date,
  claim: IdempotencyDocument,
): Promise<IdempotencyDocument | undefined> {
  try {
    await keys.insertOne(claim);
    return undefined;
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
  }
  const taken = await keys.replaceOne({ ...keyOf(claim), state: "running", leased_until: { $lt: now } }, claim);
  if (taken.matchedCount === 1) return undefined;
  const earlier = await keys.findOne(keyOf(claim));
  if (!earlier) throw new ServiceError("idempotency_conflict"); // freed between the two: the client's retry will take it
  return earlier;
}

function resourceOf(earlier: IdempotencyDocument, idempotency: Idempotency): string {
  if (!Buffer.from(earlier.body_hash.buffer).equals(idempotency.bodyHash))
    throw new ServiceError("idempotency_mismatch");
  if (earlier.state === "running") throw new ServiceError("idempotency_conflict");
  return earlier.resource_id!;
}
