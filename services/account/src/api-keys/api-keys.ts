import { scopes as allScopes, apiKeyHint, generateApiKey, hashApiKey, isScope, parseApiKey } from "@vvs/api-keys";
import type { SecretKey } from "@vvs/config";
import { ServiceError, type Violation } from "@vvs/errors";
import { nameProblem } from "@vvs/identifiers/text";
import { newId } from "@vvs/ids";
import { inTransaction, isDuplicateKey } from "@vvs/mongo";
import type { CallerContext, Tenant } from "@vvs/tenant";
import type { ClientSession, MongoClient } from "mongodb";
import type { Actor, AuditLog } from "../audit/audit.ts";
import { type AccountStore, type ApiKeyDocument, ofTenant, tenantKey } from "../store.ts";

export interface NewApiKey {
  /** 1–100 characters, for people. */
  readonly name: string;
  /** Empty for all. */
  readonly scopes?: readonly string[];
  /** Absent for a key that never expires. */
  readonly expiresAt?: Date;
  /** Names the form that asks: sent again, it creates no second key. Absent or empty, each call creates one. */
  readonly submission?: string;
}

export interface ApiKeyRoll extends Pick<NewApiKey, "expiresAt" | "submission"> {
  readonly keyId: string;
  /** For how long the key still works beside the new one; 0 ends it at once. */
  readonly overlapSeconds: number;
}

export interface ApiKeys {
  /**
   * Creates a key of the caller's environment; its value is returned this once and stored nowhere.
   * Errors: invalid_request, not_found (the organization), forbidden (it is suspended), limit_exceeded,
   * idempotency_conflict (the same submission created a key before).
   */
  create(caller: CallerContext, input: NewApiKey): Promise<{ key: ApiKeyDocument; value: string }>;
  /**
   * Creates a key in the place of another one of the caller's environment, which ends at once or after the overlap, or
   * when it would have ended by itself. Errors: those of createApiKey, not_found also for another tenant's key,
   * invalid_request also for one that has ended or was rolled before.
   */
  roll(
    caller: CallerContext,
    input: ApiKeyRoll,
  ): Promise<{ key: ApiKeyDocument; value: string; rolled: ApiKeyDocument }>;
  /** Newest first, revoked ones too; the newest 1,000. */
  list(tenant: Tenant): Promise<ApiKeyDocument[]>;
  /** Repeatable. Errors: not_found, for another tenant's key too. */
  revoke(caller: CallerContext, keyId: string): Promise<ApiKeyDocument>;
  /** The same for the operator, who need not say whose key it is. Errors: not_found. */
  revokeAny(by: Actor, keyId: string): Promise<ApiKeyDocument>;
  /** The key of a value, revoked and expired ones too; undefined for what is no key. */
  find(value: string): Promise<ApiKeyDocument | undefined>;
}

/** Of an environment; a rolled key that still works is not one of them. */
export const MAX_ACTIVE_KEYS = 20;
/** Of an environment: rolled keys that still work. */
export const MAX_OVERLAPPING_KEYS = 20;
export const MAX_OVERLAP_SECONDS = 7 * 24 * 60 * 60;
const MAX_LISTED = 1_000;
const MAX_NAME_LENGTH = 100;
const MAX_SUBMISSION_LENGTH = 100;

export function createApiKeys(options: {
  client: MongoClient;
  store: AccountStore;
  audit: AuditLog;
  peppers: readonly SecretKey[];
  now: () => Date;
}): ApiKeys {
  const { client, store, audit, peppers, now } = options;

  /** Has whatever counts the tenant's keys at the same time count again. */
  async function lockKeys(session: ClientSession, tenant: Tenant): Promise<void> {
    const lock = { _id: tenantKey(tenant), ...ofTenant(tenant) };
    const locked = await store.apiKeyLocks.updateOne(lock, { $inc: { creations: 1 } }, { session });
    if (locked.matchedCount === 0) throw new ServiceError("not_found", { message: "There is no such organization." });
  }

  function countWorking(session: ClientSession, tenant: Tenant, at: Date, isRolled: boolean): Promise<number> {
    const working = { revoked_at: { $exists: false }, $nor: [{ expires_at: { $lte: at } }] };
    return store.apiKeys.countDocuments(
      { ...ofTenant(tenant), ...working, rolled_at: { $exists: isRolled } },
      { session },
    );
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

  async function insert(session: ClientSession, caller: CallerContext, key: ApiKeyDocument): Promise<void> {
    await store.apiKeys.insertOne(key, { session });
    const details = { name: key.name, scopes: key.scopes.join(" ") };
    await audit.append(session, caller, { action: "api_key.created", ...caller.tenant, target: key._id, details });
  }

  /** Errors: idempotency_conflict where the submission is that of a key there is. */
  async function once<T>(write: (session: ClientSession) => Promise<T>): Promise<T> {
    try {
      return await inTransaction(client, write);
    } catch (error) {
      if (!isDuplicateKey(error, "submission")) throw error;
      throw new ServiceError("idempotency_conflict", { message: "This form already created a key.", cause: error });
    }
  }

  async function revoke(tenant: Tenant, by: Actor, keyId: string): Promise<ApiKeyDocument> {
    const filter = { _id: keyId, ...ofTenant(tenant) };
    return inTransaction(client, async (session) => {
      const revoked = await store.apiKeys.findOneAndUpdate(
        { ...filter, revoked_at: { $exists: false } },
        { $set: { revoked_at: now() } },
        { session, returnDocument: "after" },
      );
      if (revoked) {
        await audit.append(session, by, { action: "api_key.revoked", ...tenant, target: keyId });
        return revoked;
      }
      return (await store.apiKeys.findOne(filter, { session })) ?? noSuchKey();
    });
  }

  return {
    async create(caller, input) {
      const { tenant } = caller;
      const at = now();
      const checked = checkedInput(input, at);
      const value = generateApiKey(tenant.environment);
      const key = keyDocument(caller, { ...checked, value, peppers, at });
      await once(async (session) => {
        await lockKeys(session, tenant);
        await refuseBeyondCap(session, tenant, at);
        await refuseSuspended(session, tenant);
        await insert(session, caller, key);
      });
      return { key, value };
    },

    async roll(caller, { keyId, overlapSeconds, ...input }) {
      const { tenant } = caller;
      const at = now();
      refuseOverlap(overlapSeconds);
      const value = generateApiKey(tenant.environment);
      const filter = { _id: keyId, ...ofTenant(tenant) };
      return once(async (session) => {
        await lockKeys(session, tenant);
        const before = (await store.apiKeys.findOne(filter, { session })) ?? noSuchKey();
        refuseEnded(before, at);
        if (overlapSeconds > 0) await refuseBeyondOverlaps(session, tenant, at);
        await refuseSuspended(session, tenant);
        const checked = checkedInput({ ...input, name: before.name, scopes: before.scopes }, at);
        const key = keyDocument(caller, { ...checked, value, peppers, at });
        const ending = endingOf(before, overlapSeconds, at);
        const changes = { $set: { rolled_at: at, rolled_to: key._id, ...ending } };
        const rolled = await store.apiKeys.findOneAndUpdate(filter, changes, { session, returnDocument: "after" });
        await insert(session, caller, key);
        const details = { rolled_to: key._id, overlap_seconds: overlapSeconds };
        await audit.append(session, caller, { action: "api_key.rolled", ...tenant, target: keyId, details });
        return { key, value, rolled: rolled! };
      });
    },

    list: (tenant) =>
      store.apiKeys.find(ofTenant(tenant)).sort({ created_at: -1, _id: -1 }).limit(MAX_LISTED).toArray(),

    revoke: (caller, keyId) => revoke(caller.tenant, caller, keyId),

    async revokeAny(by, keyId) {
      const found = (await store.apiKeys.findOne({ _id: keyId })) ?? noSuchKey();
      return revoke({ organizationId: found.organization_id, environment: found.environment }, by, keyId);
    },

    async find(value) {
      if (!parseApiKey(value)) return undefined;
      const hashes = hashApiKey(peppers, value).map(({ hash }) => hash);
      return (await store.apiKeys.findOne({ hash: { $in: hashes } })) ?? undefined;
    },
  };
}

function keyDocument(
  { tenant, actor }: CallerContext,
  input: CheckedInput & { value: string; peppers: readonly SecretKey[]; at: Date },
): ApiKeyDocument {
  const { hash, pepperId } = hashApiKey(input.peppers, input.value)[0]!;
  const { start, lastFour } = apiKeyHint(input.value);
  return {
    _id: newId("key", input.at),
    ...ofTenant(tenant),
    hash,
    pepper_id: pepperId,
    name: input.name,
    start,
    last_four: lastFour,
    scopes: input.scopes,
    created_by: actor,
    created_at: input.at,
    ...(input.expiresAt && { expires_at: input.expiresAt }),
    ...(input.submission && { submission: input.submission }),
  };
}

/** What has a rolled key end: an end that it has by itself is never put off. */
function endingOf({ expires_at: own }: ApiKeyDocument, overlapSeconds: number, at: Date): Partial<ApiKeyDocument> {
  if (overlapSeconds === 0) return { revoked_at: at };
  const end = new Date(at.getTime() + overlapSeconds * 1000);
  return { expires_at: own && own < end ? own : end };
}

function refuseOverlap(overlapSeconds: number): void {
  if (Number.isInteger(overlapSeconds) && overlapSeconds >= 0 && overlapSeconds <= MAX_OVERLAP_SECONDS) return;
  const details = [{ path: "overlap_seconds", message: `must be 0–${MAX_OVERLAP_SECONDS}` }];
  throw new ServiceError("invalid_request", { details });
}

/** A key that is over needs no successor, and one that was rolled has one. */
function refuseEnded({ revoked_at, expires_at, rolled_at }: ApiKeyDocument, at: Date): void {
  const message =
    revoked_at || (expires_at && expires_at <= at)
      ? "This key has ended; create a new one."
      : rolled_at && "This key was rolled before; roll the one that took its place.";
  if (message) throw new ServiceError("invalid_request", { message });
}

type CheckedInput = Pick<NewApiKey, "name" | "expiresAt" | "submission"> & { readonly scopes: string[] };

/** Names all problems at once. Scopes come out in the order of the documentation, each once. */
function checkedInput(input: NewApiKey, now: Date): CheckedInput {
  const name = input.name.trim();
  const wanted: readonly string[] = input.scopes?.length ? input.scopes : allScopes;
  const details: Violation[] = [];
  const problem = nameProblem(name, MAX_NAME_LENGTH);
  if (problem !== undefined) details.push({ path: "name", message: problem });
  if (!wanted.every(isScope)) details.push({ path: "scopes", message: `must contain only ${allScopes.join(", ")}` });
  if (input.expiresAt && input.expiresAt <= now) details.push({ path: "expires_at", message: "must be in the future" });
  if (input.submission && input.submission.length > MAX_SUBMISSION_LENGTH) {
    details.push({ path: "submission", message: `must be at most ${MAX_SUBMISSION_LENGTH} characters` });
  }
  if (details.length > 0) throw new ServiceError("invalid_request", { details });
  const scopes = allScopes.filter((scope) => wanted.includes(scope));
  return { name, scopes, expiresAt: input.expiresAt, submission: input.submission };
}

function noSuchKey(): never {
  throw new ServiceError("not_found", { message: "There is no such API key." });
}
