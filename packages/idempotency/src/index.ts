import { randomUUID } from "node:crypto";
import { currentDeadline, notTheEffect, release } from "@vvs/deadline";
import { isOutcomeUnknown, ServiceError } from "@vvs/errors";
import type { Idempotency } from "@vvs/proto/common/v1/common";
import type { Tenant } from "@vvs/tenant";
import { Binary, type ClientSession, type Db } from "mongodb";
import { type Claim, createClaims, hasSameBody, heldBy, type IdempotencyDocument } from "./claims.ts";

/** Time for which repeated calls get the first call's result. */
const KEPT_SECONDS = 24 * 60 * 60;

/** A call that holds its key; the transaction that writes its effect completes it. */
export interface HeldKey {
  readonly claim: Claim;
  isCompleted: boolean;
}

/** The effect of a call: its key, if it has one, and the id of its result. */
export interface Completion {
  readonly key: HeldKey | undefined;
  readonly resourceId: string;
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
  /** Performs the call. The transaction that writes the effect must complete the key; undefined if the client sent none. */
  readonly run: (key: HeldKey | undefined) => Promise<T>;
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
  const { now } = options;
  const keys = options.db.collection<IdempotencyDocument>("idempotency_calls");
  const { claim, free } = createClaims({ keys, now });
  return {
    /**
     * Runs a call at most once per key. Errors: idempotency_mismatch (the key was used with another body);
     * idempotency_conflict (the first call is still running); errors of `run`, after which the key is free again. After
     * an unknown outcome the key is kept until the call's deadline, when it is certain whether the call had an effect.
     */
    async once<T>({ tenant, idempotency, run, replay }: IdempotentCall<T>): Promise<Outcome<T>> {
      if (!idempotency) return { value: await run(undefined), replayed: false };
      const key: HeldKey = { claim: claimOf(tenant, idempotency, options), isCompleted: false };
      const holder = await claim(key.claim).catch(notTheEffect);
      const isHeld = holder?.call_id === key.claim.call_id;
      if (!isHeld) return { value: await replay(resourceOf(holder, key.claim)), replayed: true };
      try {
        const value = await run(key);
        if (!key.isCompleted) throw new Error("an idempotent call wrote its effect without completing its key");
        return { value, replayed: false };
      } catch (error) {
        // After an unknown outcome or a failed release, the key is free after the lease, unless the effect completed
        // it.
        if (!isOutcomeUnknown(error)) await release(() => free(key.claim));
        throw error;
      }
    },
    /**
     * Completes the keys of calls with one command, inside the transaction that writes their effects. Errors:
     * idempotency_conflict where another call took one of the keys after its lease: that call must have no effect.
     */
    async complete(session: ClientSession, completions: readonly Completion[]): Promise<void> {
      const held = completions.flatMap(({ key, resourceId }) => (key ? { key, resourceId } : []));
      if (held.length === 0) return;
      const { matchedCount } = await keys.bulkWrite(
        held.map(({ key, resourceId }) => ({
          updateOne: { filter: heldBy(key.claim), update: { $set: { state: "done", resource_id: resourceId } } },
        })),
        { session },
      );
      if (matchedCount < held.length) throw new ServiceError("idempotency_conflict");
      for (const { key } of held) key.isCompleted = true;
    },
  };
}

function claimOf(
  tenant: Tenant,
  { apiKeyId, path, older, ...newest }: Idempotency,
  { now, leaseMs }: { now: () => Date; leaseMs: number },
): Claim {
  const at = now();
  return {
    api_key_id: apiKeyId,
    path,
    keys: [newest, ...older].map(({ key, bodyHash }) => ({ key, body_hash: new Binary(bodyHash) })),
    organization_id: tenant.organizationId,
    call_id: randomUUID(),
    state: "running",
    leased_until: new Date(at.getTime() + leaseLeft(leaseMs)),
    created_at: at,
  };
}

function leaseLeft(leaseMs: number): number {
  const deadline = currentDeadline();
  return deadline ? Math.max(0, deadline.at - Date.now()) : leaseMs;
}

/** Returns the id of the earlier call's result. */
function resourceOf(holder: IdempotencyDocument | undefined, claim: Claim): string {
  // Freed by another call just now: the client's retry will claim it.
  if (!holder) throw new ServiceError("idempotency_conflict");
  if (!hasSameBody(claim, holder)) throw new ServiceError("idempotency_mismatch");
  if (holder.state === "running") throw new ServiceError("idempotency_conflict");
  return holder.resource_id!;
}
