import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { toProtoTenant } from "@vvs/tenant";
import { openJobRows } from "@vvs/tenant/plans";
import type { ClientSession, Filter, Timestamp } from "mongodb";
import { activeMonitors, createdEntities, limitPerMinute } from "../model/plans.ts";
import type { Basics } from "../parts.ts";
import type { AccountStore, ApiKeyDocument, OrganizationDocument } from "../store.ts";

/** What gateways need to know about a key, as they receive it. */
export type KeyRecord = ReturnType<typeof recordOf>;
export type KeyRecords = ReturnType<typeof createKeyRecords>;

/** Gateways need not know keys that ended longer ago: they answer as for keys that never existed. */
const ENDED_KEPT_MS = 24 * 60 * 60 * 1000;
const MAX_HASHES = 10;

/** Reads keys together with what their organization's plan allows. */
export function createKeyRecords({ client, store, now }: Omit<Basics, "audit">) {
  async function find(filter: Filter<ApiKeyDocument>, session?: ClientSession): Promise<KeyRecord[]> {
    const keys = await store.apiKeys.find(filter, { session }).toArray();
    const ids = [...new Set(keys.map((key) => key.organization_id))];
    const organizations = await organizationsById(store, { _id: { $in: ids } }, session);
    return keys.map((key) => recordOf(key, organizations.get(key.organization_id)!));
  }

  /** Waits until the read includes what was written at `since`: right after an election a majority read may lag behind. */
  async function findSince(since: Timestamp, filter: Filter<ApiKeyDocument>): Promise<KeyRecord[]> {
    await using session = client.startSession({ causalConsistency: true });
    session.advanceOperationTime(since);
    return await find(filter, session); // before the session ends
  }

  return {
    /** Yields all keys except those that ended long ago. Everything written before the call is included. */
    async *all(): AsyncIterable<KeyRecord> {
      const longAgo = new Date(now().getTime() - ENDED_KEPT_MS);
      const ended = { $nor: [{ revoked_at: { $lt: longAgo } }, { expires_at: { $lt: longAgo } }] };
      await using session = client.startSession({ causalConsistency: true });
      // A majority read may lag behind writes that precede a change stream that was just opened. The time of this command
      // is that of the newest write, and the session's reads wait until the majority has it.
      await store.db.command({ ping: 1 }, { session });
      const organizations = await organizationsById(store, {}, session);
      for await (const key of store.apiKeys.find(ended, { session })) {
        const organization = organizations.get(key.organization_id);
        // Undefined if it was created after the organizations were read: its keys come as changes.
        if (organization) yield recordOf(key, organization);
      }
    },
    /** Returns a key as it is since a change of it, or later. */
    byKeyId: (keyId: string, since: Timestamp) => findSince(since, { _id: keyId }),
    /** Returns the keys of an organization as they are since a change of it, or later. */
    ofOrganization: (organizationId: string, since: Timestamp) => findSince(since, { organization_id: organizationId }),
    /** Returns the key that has one of these hashes. */
    byHashes: async (hashes: readonly Uint8Array[]): Promise<KeyRecord | undefined> =>
      (await find({ hash: { $in: hashes.slice(0, MAX_HASHES).map((hash) => Buffer.from(hash)) } }))[0],
  };
}

async function organizationsById(
  { organizations }: AccountStore,
  filter: Filter<OrganizationDocument>,
  session?: ClientSession,
): Promise<Map<string, OrganizationDocument>> {
  const found = await organizations.find(filter, { session }).toArray();
  return new Map(found.map((organization) => [organization._id, organization]));
}

function recordOf(key: ApiKeyDocument, organization: OrganizationDocument) {
  return {
    id: key._id,
    hash: key.hash,
    pepperId: key.pepper_id,
    tenant: toProtoTenant({ organizationId: key.organization_id, environment: key.environment }),
    scopes: [...key.scopes],
    expiresAt: key.expires_at && timestampFromDate(key.expires_at),
    revokedAt: key.revoked_at && timestampFromDate(key.revoked_at),
    limitPerMinute: limitPerMinute(organization),
    activeMonitors: activeMonitors(organization, key.environment),
    createdEntities: createdEntities(organization, key.environment),
    openJobRows: openJobRows[organization.plan],
    organizationSuspended: organization.status === "suspended",
  };
}
