import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ApiKeyRecord } from "@vvs/proto/account/v1/api_keys";
import { tenantOf } from "@vvs/tenant";

/** The gateway's record of an API key. It does not contain the key itself. */
export type ApiKey = Readonly<ReturnType<typeof apiKeyOf>>;

/** Reads a record from account. Errors: it has no tenant. */
export function apiKeyOf(record: ApiKeyRecord) {
  return {
    id: record.id,
    tenant: tenantOf(record.tenant),
    scopes: new Set(record.scopes),
    /** Maximum requests per minute in the organization's plan. */
    limitPerMinute: record.limitPerMinute,
    /** Maximum number of active monitors in the key's environment. */
    activeMonitors: record.activeMonitors,
    /** Maximum number of entities that the organization can create in the key's environment; 0 where unknown. */
    createdEntities: record.createdEntities,
    /** Maximum number of rows of jobs without their last answer. */
    openJobRows: record.openJobRows,
    organizationSuspended: record.organizationSuspended,
    revoked: record.revokedAt !== undefined,
    expiresAt: record.expiresAt && timestampDate(record.expiresAt),
  };
}

/** Returns the name of a hash in maps. */
export function hashName(hash: Uint8Array): string {
  return Buffer.from(hash).toString("base64");
}
