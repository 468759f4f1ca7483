import type { Tenant } from "@vvs/tenant";
import type { Collection, Filter, MongoClient } from "mongodb";
import { activeMonitors, limitPerMinute } from "../organizations/plans.ts";
import type { AccountStore, ApiKeyDocument, OrganizationDocument } from "../store.ts";

/** What a gateway must know of a key. */
export interface KeyRecord {
  readonly id: string;
  readonly hash: Buffer;
  readonly pepperId: string;
  readonly tenant: Tenant;
  readonly scopes: readonly string[];
  readonly expiresAt?: Date;
  readonly revokedAt?: Date;
  readonly limitPerMinute: number;
  readonly activeMonitors: number;
  readonly organizationSuspended: boolean;
}

export interface KeyRecords {
  /** All keys but those that ended long ago. Nothing written before the call is missing. */
  all(): AsyncIterable<KeyRecord>;
  byKeyId(keyId: string): Promise<KeyRecord[]>;
  ofOrganization(organizationId: string): Promise<KeyRecord[]>;
  /** The key that has one of these hashes. */
  byHashes(hashes: readonly Uint8Array[]): Promise<KeyRecord | undefined>;
}

/** A key that ended before this answers like one that never was, so replicas need not hold it. */
const ENDED_KEPT_MS = 24 * 60 * 60 * 1000;
const MAX_HASHES = 10;

/** Reads keys together with what their organization lends them. */
export function createKeyRecords(options: { client: MongoClient; store: AccountStore; now: () => Date }): KeyRecords {
  const { client, store, now } = options;

  async function find(filter: Filter<ApiKeyDocument>): Promise<KeyRecord[]> {
    const keys = await store.apiKeys.find(filter).toArray();
    const ids = [...new Set(keys.map((key) => key.organization_id))];
    const organizations = await organizationsById(store.organizations, { _id: { $in: ids } });
    return keys.map((key) => recordOf(key, organizations.get(key.organization_id)!));
  }

  return {
    async *all() {
      const longAgo = new Date(now().getTime() - ENDED_KEPT_MS);
      const ended = { $nor: [{ revoked_at: { $lt: longAgo } }, { expires_at: { $lt: longAgo } }] };
      await using session = client.startSession({ causalConsistency: true });
      // A majority read may lag behind writes that a change stream, opened before, begins after. This command's time is
      // that of the newest write, and the session's reads wait until the majority has it.
      await store.db.command({ ping: 1 }, { session });
      const organizations = await organizationsById(store.organizations, {}, session);
      for await (const key of store.apiKeys.find(ended, { session })) {
        const organization = organizations.get(key.organization_id);
        // One created since the organizations were read: its keys come as changes.
        if (organization) yield recordOf(key, organization);
      }
    },
    byKeyId: (keyId) => find({ _id: keyId }),
    ofOrganization: (organizationId) => find({ organization_id: organizationId }),
    byHashes: async (hashes) => (await find({ hash: { $in: hashes.slice(0, MAX_HASHES).map(toBuffer) } }))[0],
  };
}

async function organizationsById(
  collection: Collection<OrganizationDocument>,
  filter: Filter<OrganizationDocument>,
  session?: ReturnType<MongoClient["startSession"]>,
): Promise<Map<string, OrganizationDocument>> {
  const found = await collection.find(filter, { session }).toArray();
  return new Map(found.map((organization) => [organization._id, organization]));
}

function recordOf(key: ApiKeyDocument, organization: OrganizationDocument): KeyRecord {
  return {
    id: key._id,
    hash: key.hash,
    pepperId: key.pepper_id,
    tenant: { organizationId: key.organization_id, environment: key.environment },
    scopes: key.scopes,
    expiresAt: key.expires_at,
    revokedAt: key.revoked_at,
    limitPerMinute: limitPerMinute(organization),
    activeMonitors: activeMonitors(organization, key.environment),
    organizationSuspended: organization.status === "suspended",
  };
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
