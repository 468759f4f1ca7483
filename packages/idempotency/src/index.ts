import { currentDeadline, notTheEffect, release } from "@vvs/deadline";
import { isOutcomeUnknown, ServiceError } from "@vvs/errors";
import { isDuplicateKey } from "@vvs/mongo";
import type { Idempotency } from "@vvs/proto/common/v1/common";
import type { Tenant } from "@vvs/tenant";
import { Binary, type ClientSession, type Collection, type Db } from "mongodb";

/** Time for which repeated calls get the first call's result. */
const KEPT_SECONDS = 24 * 60 * 60;

interface IdempotencyDocument {
  readonly api_key_id: string;
  readonly path: string;
  /** Two calls of one API key on one path are the same call if they have one of these keys in common. */
  readonly keys: readonly { readonly key: string; readonly body_hash: Binary }[];
  readonly organization_id: string;
  readonly state: "running" | "done";
  /** While running: time by which the call that holds the key must have ended. */
  readonly leased_until: Date;
  /** When done: the id of the first call's result. */
  readonly resource_id?: string;
  readonly created_at: Date;
}

/** The result of an idempotent call: of this call, or replayed from an earlier one. */
export interface Outcome<T> {
  readonly value: T;
  readonly replayed: boolean;
}

export interface IdempotentCall<T> {
  readonly tenant: Tenant;
  /** The client's key; absent if it sent none. */
  readonly idempotency: Idempotency | undefined;
  /** Performs the call. `complete` must be called inside the transaction that writes the effect. */
  readonly run: (complete: (session: ClientSession, resourceId: string) => Promise<void>) => Promise<T>;
  /** Returns the result of the earlier call. */
  readonly replay: (resourceId: string) => Promise<T>;
}

export type IdempotencyStore = ReturnType<typeof createIdempotencyStore>;

/** Creates the collection and its indexes; only migrations call this. */
export async function migrateIdempotency(db: Db): Promise<void> {
  const keys = db.collection("idempotency_calls");
  await keys.createIndex({ api_key_id: 1, path: 1, "keys.key": 1 }, { unique: true });
  await keys.createIndex({ created_at: 1 }, { expireAfterSeconds: KEPT_SECONDS });
}

/**
 * Stores idempotency keys in the database of the service that owns the effect. A key is held until the deadline of its
 * call, or for `leaseMs` if the call has none.
 */
export function createIdempotencyStore(options: { db: Db; leaseMs: number; now: () => Date }) {
  const keys = options.db.collection<IdempotencyDocument>("idempotency_calls");
  return {
    /**
     * Runs a call at most once per key. Errors: idempotency_mismatch (the key was used with another body);
     * idempotency_conflict (the first call is still running); errors of `run`, after which the key is free again. After
     * an unknown outcome the key is kept until the call's deadline, when it is certain whether the call had an effect.
     */
    async once<T>({ tenant, idempotency, run, replay }: IdempotentCall<T>): Promise<Outcome<T>> {
      if (!idempotency) return { value: await run(async () => undefined), replayed: false };
      const claim = claimOf(tenant, idempotency, options);
      const earlier = await take(keys, options.now(), claim).catch(notTheEffect);
      if (earlier) return { value: await replay(resourceOf(earlier, claim)), replayed: true };
      const mine = { ...sameCall(claim), state: "running" as const, leased_until: claim.leased_until };
      let completed = false;
      try {
        const value = await run(async (session, resourceId) => {
          const done = await keys.updateOne(mine, { $set: { state: "done", resource_id: resourceId } }, { session });
          // Another call took the key after the lease: this call must have no effect.
          if (done.matchedCount === 0) throw new ServiceError("idempotency_conflict");
          completed = true;
        });
        if (!completed) throw new Error("an idempotent call wrote its effect without completing its key");
        return { value, replayed: false };
      } catch (error) {
        // After an unknown outcome or a failed release, the key is free after the lease, unless the effect completed
        // it.
        if (!isOutcomeUnknown(error)) await release(() => keys.deleteOne(mine));
        throw error;
      }
    },
  };
}

function claimOf(
  tenant: Tenant,
  { apiKeyId, path, older, ...newest }: Idempotency,
  { now, leaseMs }: { now: () => Date; leaseMs: number },
): IdempotencyDocument {
  const at = now();
  return {
    api_key_id: apiKeyId,
    path,
    keys: [newest, ...older].map(({ key, bodyHash }) => ({ key, body_hash: new Binary(bodyHash) })),
    organization_id: tenant.organizationId,
    state: "running",
    leased_until: new Date(at.getTime() + leaseLeft(leaseMs)),
    created_at: at,
  };
}

function leaseLeft(leaseMs: number): number {
  const deadline = currentDeadline();
  return deadline ? Math.max(0, deadline.at - Date.now()) : leaseMs;
}

function sameCall({ api_key_id, path, keys, organization_id }: IdempotencyDocument) {
  return { api_key_id, path, "keys.key": { $in: keys.map(({ key }) => key) }, organization_id };
}

/** Takes the key if it is free or its lease is over. Otherwise returns the document of the call that holds it. */
async function take(
  keys: Collection<IdempotencyDocument>,
  now: Date,
  claim: IdempotencyDocument,
): Promise<IdempotencyDocument | undefined> {
  try {
    await keys.insertOne({ ...claim });
    return undefined;
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
  }
  const taken = await keys.replaceOne({ ...sameCall(claim), state: "running", leased_until: { $lt: now } }, claim);
  if (taken.matchedCount === 1) return undefined;
  const earlier = await keys.findOne(sameCall(claim));
  if (!earlier) throw new ServiceError("idempotency_conflict"); // freed between the two: the client's retry will take it
  return earlier;
}

function resourceOf(earlier: IdempotencyDocument, { keys }: IdempotencyDocument): string {
  const sameBody = keys.some(({ key, body_hash: hash }) =>
    earlier.keys.some((other) => other.key === key && Buffer.from(other.body_hash.buffer).equals(hash.buffer)),
  );
  if (!sameBody) throw new ServiceError("idempotency_mismatch");
  if (earlier.state === "running") throw new ServiceError("idempotency_conflict");
  return earlier.resource_id!;
}
