import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ApiKeyRecord } from "@vvs/proto/account/v1/account";
import { type Tenant, tenantOf } from "@vvs/tenant";

/** What the gateway knows of a key. The key itself is nowhere. */
export interface ApiKey {
  readonly id: string;
  readonly tenant: Tenant;
  readonly scopes: ReadonlySet<string>;
  /** Requests per minute by the organization's plan. */
  readonly limitPerMinute: number;
  /** Active monitors that the organization may have in the key's environment. */
  readonly activeMonitors: number;
  readonly organizationSuspended: boolean;
  readonly revoked: boolean;
  readonly expiresAt: Date | undefined;
}

/** A record of account. Errors: where it names no tenant. */
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

/** How a hash names a key in maps. */
export function hashName(hash: Uint8Array): string {
  return Buffer.from(hash).toString("base64");
}
