import { scopes as allScopes, apiKeyHint, generateApiKey, hashApiKey, isScope, parseApiKey } from "@vvs/api-keys";
import type { SecretKey } from "@vvs/config";
import { ServiceError, type Violation } from "@vvs/errors";
import { newId } from "@vvs/ids";
import { inTransaction } from "@vvs/mongo";
import type { CallerContext, Tenant } from "@vvs/tenant";
import type { ClientSession, MongoClient } from "mongodb";
import type { Actor, AuditLog } from "./audit.ts";
import { type AccountStore, type ApiKeyDocument, ofTenant, tenantKey } from "./store.ts";

export interface NewApiKey {
  /** 1–100 characters, for people. */
  readonly name: string;
  /** Empty for all. */
  readonly scopes?: readonly string[];
  /** Absent for a key that never expires. */
  readonly expiresAt?: Date;
}

export interface ApiKeys {
  /**
   * Creates a key of the caller's environment; its value is returned this once and stored nowhere.
   * Errors: invalid_request, not_found (the organization), forbidden (it is suspended), limit_exceeded.
   */
  createApiKey(caller: CallerContext, input: NewApiKey): Promise<{ key: ApiKeyDocument; value: string }>;
  /** Newest first, revoked ones too; the newest 1,000. */
  listApiKeys(tenant: Tenant): Promise<ApiKeyDocument[]>;
  /** Repeatable. Errors: not_found, for another tenant's key too. */
  revokeApiKey(caller: CallerContext, keyId: string): Promise<ApiKeyDocument>;
  /** The same for the operator, who need not say whose key it is. Errors: not_found. */
  revokeAnyApiKey(by: Actor, keyId: string): Promise<ApiKeyDocument>;
  /** The key of a value, revoked and expired ones too; undefined for what is no key. */
  findApiKey(value: string): Promise<ApiKeyDocument | undefined>;
}

export const MAX_ACTIVE_KEYS = 20;
const MAX_LISTED = 1_000;
const MAX_NAME_LENGTH = 100;

export function createApiKeys(options: {
  client: MongoClient;
  store: AccountStore;
  audit: AuditLog;
  peppers: readonly SecretKey[];
  now: () => Date;
}): ApiKeys {
  const { client, store, audit, peppers, now } = options;

  async function refuseBeyondCap(session: ClientSession, tenant: Tenant, at: Date): Promise<void> {
    const lock = { _id: tenantKey(tenant), ...ofTenant(tenant) };
    const locked = await store.apiKeyLocks.updateOne(lock, { $inc: { creations: 1 } }, { session });
    if (locked.matchedCount === 0) throw new ServiceError("not_found", { message: "There is no such organization." });
    const active = await store.apiKeys.countDocuments(
      { ...ofTenant(tenant), revoked_at: { $exists: false }, $nor: [{ expires_at: { $lte: at } }] },
      { session },
    );
    if (active < MAX_ACTIVE_KEYS) return;
    throw new ServiceError("limit_exceeded", {
      message: `An environment has at most ${MAX_ACTIVE_KEYS} active keys; revoke one that is no longer used.`,
    });
  }

  async function refuseSuspended(session: ClientSession, tenant: Tenant): Promise<void> {
    const organization = await store.organizations.findOne({ _id: tenant.organizationId }, { session });
    if (organization?.status === "active") return;
    throw new ServiceError("forbidden", { message: "The organization is suspended." });
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
    async createApiKey(caller, input) {
      const { tenant } = caller;
      const at = now();
      const checked = checkedInput(input, at);
      const value = generateApiKey(tenant.environment);
      const key = keyDocument(caller, { ...checked, value, peppers, at });
      await inTransaction(client, async (session) => {
        await refuseBeyondCap(session, tenant, at);
        await refuseSuspended(session, tenant);
        await store.apiKeys.insertOne(key, { session });
        const details = { name: key.name, scopes: key.scopes.join(" ") };
        await audit.append(session, caller, { action: "api_key.created", ...tenant, target: key._id, details });
      });
      return { key, value };
    },

    listApiKeys: (tenant) =>
      store.apiKeys.find(ofTenant(tenant)).sort({ created_at: -1, _id: -1 }).limit(MAX_LISTED).toArray(),

    revokeApiKey: (caller, keyId) => revoke(caller.tenant, caller, keyId),

    async revokeAnyApiKey(by, keyId) {
      const found = (await store.apiKeys.findOne({ _id: keyId })) ?? noSuchKey();
      return revoke({ organizationId: found.organization_id, environment: found.environment }, by, keyId);
    },

    async findApiKey(value) {
      if (!parseApiKey(value)) return undefined;
      const hashes = hashApiKey(peppers, value).map(({ hash }) => hash);
      return (await store.apiKeys.findOne({ hash: { $in: hashes } })) ?? undefined;
    },
  };
}

function keyDocument(
  { tenant, actor }: CallerContext,
  input: { name: string; scopes: string[]; expiresAt?: Date; value: string; peppers: readonly SecretKey[]; at: Date },
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
  };
}

/** Names all problems at once. Scopes come out in the order of the documentation, each once. */
function checkedInput(input: NewApiKey, now: Date): { name: string; scopes: string[]; expiresAt?: Date } {
  const name = input.name.trim();
  const wanted: readonly string[] = input.scopes?.length ? input.scopes : allScopes;
  const details: Violation[] = [];
  if (name.length < 1 || name.length > MAX_NAME_LENGTH) {
    details.push({ path: "name", message: `must be 1–${MAX_NAME_LENGTH} characters` });
  }
  if (!wanted.every(isScope)) details.push({ path: "scopes", message: `must be of ${allScopes.join(", ")}` });
  if (input.expiresAt && input.expiresAt <= now) details.push({ path: "expires_at", message: "must be in the future" });
  if (details.length > 0) throw new ServiceError("invalid_request", { details });
  return { name, scopes: allScopes.filter((scope) => wanted.includes(scope)), expiresAt: input.expiresAt };
}

function noSuchKey(): never {
  throw new ServiceError("not_found", { message: "There is no such API key." });
}
