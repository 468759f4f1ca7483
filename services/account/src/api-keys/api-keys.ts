import { scopes as allScopes, apiKeyHint, generateApiKey, hashApiKey, isScope, parseApiKey } from "@vvs/api-keys";
import type { SecretKey } from "@vvs/config";
import { ServiceError, type Violation } from "@vvs/errors";
import { nameProblem } from "@vvs/identifiers/text";
import { newId } from "@vvs/ids";
import { inTransaction, isDuplicateKey } from "@vvs/mongo";
import type { Tenant } from "@vvs/tenant";
import type { ClientSession } from "mongodb";
import type { Actor } from "../audit/audit.ts";
import type { Notices } from "../mail/notices.ts";
import { requireSecretManager } from "../members/membership.ts";
import type { Basics } from "../parts.ts";
import { invalid, missing } from "../refusals.ts";
import type { Caller } from "../sessions/callers-by-session.ts";
import { type ApiKeyDocument, ofTenant, tenantKey } from "../store.ts";

export interface NewApiKey {
  /** 1–100 characters, for people. */
  readonly name: string;
  /** Empty for all. */
  readonly scopes?: readonly string[];
  /** Absent for a key that never expires. */
  readonly expiresAt?: Date;
  /** Identifies the submitted form, so that a repeated submission creates no second key. If empty, each call creates one. */
  readonly submission?: string;
}

export interface ApiKeyRoll extends Pick<NewApiKey, "expiresAt" | "submission"> {
  readonly keyId: string;
  /** How long the old key still works; 0 ends it immediately. */
  readonly overlapSeconds: number;
}

/** Maximum active keys of an environment. Rolled keys that still work are not counted. */
export const MAX_ACTIVE_KEYS = 20;
/** Maximum rolled keys of an environment that still work. */
export const MAX_OVERLAPPING_KEYS = 20;
export const MAX_OVERLAP_SECONDS = 7 * 24 * 60 * 60;
const MAX_ENDED_LISTED = 1_000;
const MAX_NAME_LENGTH = 100;
const MAX_SUBMISSION_LENGTH = 100;

export function createApiKeys(
  options: Basics & { peppers: readonly SecretKey[]; notices: Pick<Notices, "tellOwners"> },
) {
  const { client, store, audit, notices, peppers, now } = options;

  /** Makes concurrent transactions that count the tenant's keys conflict, so that the second one counts again. */
  async function lockKeys(session: ClientSession, tenant: Tenant): Promise<void> {
    const lock = { _id: tenantKey(tenant), ...ofTenant(tenant) };
    const locked = await store.apiKeyLocks.updateOne(lock, { $inc: { creations: 1 } }, { session });
    if (locked.matchedCount === 0) throw missing("organization");
  }

  function countWorking(session: ClientSession, tenant: Tenant, at: Date, isRolled: boolean): Promise<number> {
    const filter = { ...ofTenant(tenant), $nor: endedAt(at), rolled_at: { $exists: isRolled } };
    return store.apiKeys.countDocuments(filter, { session });
  }

  async function refuseBeyondCap(session: ClientSession, tenant: Tenant, at: Date): Promise<void> {
    if ((await countWorking(session, tenant, at, false)) < MAX_ACTIVE_KEYS) return;
    throw new ServiceError("limit_exceeded", {
      message: `An environment can have at most ${MAX_ACTIVE_KEYS} active keys. Revoke one that you no longer use.`,
    });
  }

  async function refuseBeyondOverlaps(session: ClientSession, tenant: Tenant, at: Date): Promise<void> {
    if ((await countWorking(session, tenant, at, true)) < MAX_OVERLAPPING_KEYS) return;
    throw new ServiceError("limit_exceeded", {
      message: `At most ${MAX_OVERLAPPING_KEYS} rolled keys of an environment can work at the same time. Revoke one of them, or end this one immediately.`,
    });
  }

  async function refuseSuspended(session: ClientSession, tenant: Tenant): Promise<void> {
    const organization = await store.organizations.findOne({ _id: tenant.organizationId }, { session });
    if (organization?.status === "active") return;
    throw new ServiceError("forbidden", { message: "The organization is suspended." });
  }

  async function insert(session: ClientSession, caller: Caller, key: ApiKeyDocument): Promise<void> {
    await store.apiKeys.insertOne(key, { session });
    const details = { name: key.name, scopes: key.scopes.join(" ") };
    await audit.append(session, caller, { action: "api_key.created", ...caller.tenant, target: key._id, details });
  }

  /** Errors: those of `write`; idempotency_conflict if a key of the same submission exists. */
  async function once<T>(write: (session: ClientSession) => Promise<T>): Promise<T> {
    try {
      return await inTransaction(client, write);
    } catch (error) {
      if (!isDuplicateKey(error, "submission")) throw error;
      throw new ServiceError("idempotency_conflict", { message: "This form already created a key.", cause: error });
    }
  }

  async function revoke(session: ClientSession, tenant: Tenant, by: Actor, keyId: string): Promise<ApiKeyDocument> {
    const filter = { _id: keyId, ...ofTenant(tenant) };
    const revoked = await store.apiKeys.findOneAndUpdate(
      { ...filter, revoked_at: { $exists: false } },
      { $set: { revoked_at: now() } },
      { session, returnDocument: "after" },
    );
    if (revoked) {
      await audit.append(session, by, { action: "api_key.revoked", ...tenant, target: keyId });
      const change = { subject: "An API key was revoked", what: `revoked ${described(revoked)}` };
      await notices.tellOwners(session, by, tenant.organizationId, change);
      return revoked;
    }
    return (await store.apiKeys.findOne(filter, { session })) ?? noSuchKey();
  }

  return {
    /**
     * Creates a key of the caller's environment. Its value is only returned here, and not stored.
     * Errors: invalid_request, not_found (the organization), forbidden (it is suspended, or the user may not do this),
     * limit_exceeded,
     * idempotency_conflict (the same submission created a key before).
     */
    async create(caller: Caller, input: NewApiKey): Promise<{ key: ApiKeyDocument; value: string }> {
      const { tenant } = caller;
      const at = now();
      const { key, value } = newKey(caller, input, peppers, at);
      await once(async (session) => {
        await requireSecretManager(store, caller, session);
        await lockKeys(session, tenant);
        await refuseBeyondCap(session, tenant, at);
        await refuseSuspended(session, tenant);
        await insert(session, caller, key);
        const change = { subject: "An API key was created", what: `created ${described(key)}` };
        await notices.tellOwners(session, caller, tenant.organizationId, change);
      });
      return { key, value };
    },

    /**
     * Replaces a key of the caller's environment by a new one. The old key ends immediately or after the overlap, or
     * earlier if it expires. Errors: those of `create`; not_found also for another tenant's key; invalid_request also
     * for a key that has ended or was rolled before.
     */
    async roll(
      caller: Caller,
      { keyId, overlapSeconds, ...input }: ApiKeyRoll,
    ): Promise<{ key: ApiKeyDocument; value: string; rolled: ApiKeyDocument }> {
      const { tenant } = caller;
      const at = now();
      if (!Number.isInteger(overlapSeconds) || overlapSeconds < 0 || overlapSeconds > MAX_OVERLAP_SECONDS) {
        throw invalid("overlap_seconds", `must be 0–${MAX_OVERLAP_SECONDS}`);
      }
      const filter = { _id: keyId, ...ofTenant(tenant) };
      return once(async (session) => {
        await requireSecretManager(store, caller, session);
        await lockKeys(session, tenant);
        const before = (await store.apiKeys.findOne(filter, { session })) ?? noSuchKey();
        refuseEnded(before, at);
        if (overlapSeconds > 0) await refuseBeyondOverlaps(session, tenant, at);
        await refuseSuspended(session, tenant);
        const { key, value } = newKey(caller, { ...input, name: before.name, scopes: before.scopes }, peppers, at);
        const ending = endingOf(before, overlapSeconds, at);
        const changes = { $set: { rolled_at: at, rolled_to: key._id, ...ending } };
        const rolled = await store.apiKeys.findOneAndUpdate(filter, changes, { session, returnDocument: "after" });
        await insert(session, caller, key);
        const details = { rolled_to: key._id, overlap_seconds: overlapSeconds };
        await audit.append(session, caller, { action: "api_key.rolled", ...tenant, target: keyId, details });
        const change = {
          subject: "An API key was replaced",
          what: `replaced ${described(before)} by ${described(key)}`,
          entries: 2,
        };
        await notices.tellOwners(session, caller, tenant.organizationId, change);
        return { key, value, rolled: rolled! };
      });
    },

    /** Returns all keys that work and then the 1,000 newest that ended, both newest first. */
    async list(tenant: Tenant): Promise<ApiKeyDocument[]> {
      const at = now();
      const find = (filter: object) =>
        store.apiKeys.find({ ...ofTenant(tenant), ...filter }).sort({ created_at: -1, _id: -1 });
      const [working, ended] = await Promise.all([
        find({ $nor: endedAt(at) }).toArray(),
        find({ $or: endedAt(at) })
          .limit(MAX_ENDED_LISTED)
          .toArray(),
      ]);
      return [...working, ...ended];
    },

    /** Repeatable. Errors: forbidden; not_found, also for another tenant's key. */
    revoke: (caller: Caller, keyId: string) =>
      inTransaction(client, async (session) => {
        await requireSecretManager(store, caller, session);
        return revoke(session, caller.tenant, caller, keyId);
      }),

    /** Revokes a key of any tenant. Only for the operator. Errors: not_found. */
    async revokeAny(by: Actor, keyId: string): Promise<ApiKeyDocument> {
      const found = (await store.apiKeys.findOne({ _id: keyId })) ?? noSuchKey();
      const tenant = { organizationId: found.organization_id, environment: found.environment };
      return inTransaction(client, (session) => revoke(session, tenant, by, keyId));
    },

    /** Returns the key with this value, even if it is revoked or expired; undefined if there is none. */
    async find(value: string): Promise<ApiKeyDocument | undefined> {
      if (!parseApiKey(value)) return undefined;
      const hashes = hashApiKey(peppers, value).map(({ hash }) => hash);
      return (await store.apiKeys.findOne({ hash: { $in: hashes } })) ?? undefined;
    },
  };
}

/** Errors: invalid_request with all problems. */
function newKey({ tenant, actor }: Caller, input: NewApiKey, peppers: readonly SecretKey[], at: Date) {
  const name = input.name.trim();
  const requested: readonly string[] = input.scopes?.length ? input.scopes : allScopes;
  refuseInput({ ...input, name, scopes: requested }, at);
  const value = generateApiKey(tenant.environment);
  const { hash, pepperId } = hashApiKey(peppers, value)[0]!;
  const { start, lastFour } = apiKeyHint(value);
  const key: ApiKeyDocument = {
    _id: newId("key", at),
    ...ofTenant(tenant),
    hash,
    pepper_id: pepperId,
    name,
    start,
    last_four: lastFour,
    // In the order of the documentation, each once.
    scopes: allScopes.filter((scope) => requested.includes(scope)),
    created_by: actor,
    created_at: at,
    ...(input.expiresAt && { expires_at: input.expiresAt }),
    ...(input.submission && { submission: input.submission }),
  };
  return { key, value };
}

function refuseInput({ name, scopes, expiresAt, submission = "" }: NewApiKey, now: Date): void {
  const details: Violation[] = [];
  const problem = nameProblem(name, MAX_NAME_LENGTH);
  if (problem !== undefined) details.push({ path: "name", message: problem });
  if (!scopes!.every(isScope)) details.push({ path: "scopes", message: `must contain only ${allScopes.join(", ")}` });
  if (expiresAt && expiresAt <= now) details.push({ path: "expires_at", message: "must be in the future" });
  if (submission.length > MAX_SUBMISSION_LENGTH) {
    details.push({ path: "submission", message: `must be at most ${MAX_SUBMISSION_LENGTH} characters` });
  }
  if (details.length > 0) throw new ServiceError("invalid_request", { details });
}

/** Returns what ends a rolled key. An earlier expiry of its own is kept. */
function endingOf({ expires_at: own }: ApiKeyDocument, overlapSeconds: number, at: Date): Partial<ApiKeyDocument> {
  if (overlapSeconds === 0) return { revoked_at: at };
  const end = new Date(at.getTime() + overlapSeconds * 1000);
  return { expires_at: own && own < end ? own : end };
}

/** Returns the conditions of which a key that has ended meets one. */
const endedAt = (at: Date) => [{ revoked_at: { $exists: true } }, { expires_at: { $lte: at } }];

function refuseEnded({ revoked_at, expires_at, rolled_at }: ApiKeyDocument, at: Date): void {
  const message =
    revoked_at || (expires_at && expires_at <= at)
      ? "This key has ended; create a new one."
      : rolled_at && "This key was rolled before; roll the one that took its place.";
  if (message) throw new ServiceError("invalid_request", { message });
}

/** Names a key without its name, which anybody may have typed. */
function described({ environment, start, last_four }: ApiKeyDocument): string {
  return `the API key ${start}…${last_four} of the ${environment} environment`;
}

function noSuchKey(): never {
  throw missing("API key");
}
