import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ApiKeyRecord } from "@vvs/proto/account/v1/api_keys";
import { type Tenant, tenantOf } from "@vvs/tenant";

/** The gateway's record of an API key. It does not contain the key itself. */
export interface ApiKey {
  readonly id: string;
  readonly tenant: Tenant;
  readonly scopes: ReadonlySet<string>;
  /** Maximum requests per minute in the organization's plan. */
  readonly limitPerMinute: number;
  /** Maximum number of active monitors in the key's environment. */
  readonly activeMonitors: number;
  readonly organizationSuspended: boolean;
  readonly revoked: boolean;
  readonly expiresAt: Date | undefined;
}

/** Reads a record from account. Errors: it has no tenant. */
export function apiKeyOf(record: ApiKeyRecord): ApiKey {
  return {
    id: record.id,
    tenant: tenantOf(record.tenant),
    scopes: new Set(record.scopes),
    limitPerMinute: record.limitPerMinute,
    activeMonitors: record.activeMonitors,
    organizationSuspended: record.organizationSuspended,
    revoked: record.revokedAt !== undefined,
    expiresAt: record.expiresAt && timestampDate(record.expiresAt),
  };
}

/** Returns the name of a hash in maps. */
export function hashName(hash: Uint8Array): string {
  return Buffer.from(hash).toString("base64");
}
