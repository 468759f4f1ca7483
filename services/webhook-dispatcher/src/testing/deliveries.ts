import { newId } from "@vvs/ids";
import type { Tenant } from "@vvs/tenant";
import { testMongo } from "@vvs/testing";
import { newEndpoint } from "../endpoints/circuit.ts";
import { destinationOf, type Endpoint, endpointId } from "../endpoints/endpoint.ts";
import { migrate } from "../migrate.ts";
import type { Attempt, Delivery } from "../model/delivery.ts";

export const tenant: Tenant = { organizationId: "org_1", environment: "live" };
export const stranger: Tenant = { organizationId: "org_2", environment: "live" };
export const start = new Date("2026-11-21T09:00:00.000Z");
export const later = (seconds: number) => new Date(start.getTime() + seconds * 1000);
export const HOOK = "https://subscriber.example/hook";

export type TestDeliveries = Awaited<ReturnType<typeof createTestDeliveries>>;

/**
 * Migrated databases of the test's own, with deliveries as the engine leaves them. They exist until the tests of the file are
 * over.
 */
export async function createTestDeliveries() {
  const { client, prefix } = await testMongo();
  await migrate({ client, prefix });
  const db = client.db(`${prefix}webhook_dispatcher_live`, { ignoreUndefined: true });
  const deliveries = db.collection<Delivery>("deliveries");
  const endpoints = db.collection<Endpoint>("endpoints");
  return {
    /** The database of the live environment. */
    db,
    deliveries,
    endpoints,
    /** Stores a failed delivery that was accepted at `start`, with these changes; returns it. */
    async add(changes: Partial<Delivery> = {}): Promise<Delivery> {
      const delivery = failedDelivery(changes);
      await deliveries.insertOne(delivery);
      return delivery;
    },
    find: async (id: string): Promise<Delivery> => (await deliveries.findOne({ _id: id }))!,
    /** Stores an endpoint of which nothing is known, with these changes. */
    async addEndpoint(url: string, changes: Partial<Endpoint>, organization_id = tenant.organizationId): Promise<void> {
      const identity = { _id: endpointId(organization_id, url), organization_id, url };
      await endpoints.insertOne({ ...newEndpoint(identity, start), rev: 1, ...changes });
    },
    /** Deletes all documents. */
    async clear(): Promise<void> {
      const own = await db.listCollections({ name: /^(?!system[.])/ }).toArray();
      for (const { name } of own) await db.collection(name).deleteMany({});
    },
  };
}

const lastAttempt: Attempt = {
  number: 1,
  started_at: start,
  duration_ms: 41,
  status_code: 500,
  error: "http_status",
  answer_excerpt: "what the subscriber said",
};

/** Returns a delivery that failed, with these changes. */
export function failedDelivery(changes: Partial<Delivery>): Delivery {
  const { organization_id = tenant.organizationId, webhook_url = HOOK } = changes;
  return {
    _id: newId("dlv"),
    organization_id,
    event_id: newId("evt"),
    monitor_id: "mon_1",
    run_seq: 1,
    entity_id: "ent_1",
    verification_id: "ver_1",
    ...destinationOf(organization_id, webhook_url),
    changes: [{ field: "sam_registration.status", previous: "pass", current: "fail" }],
    detected_at: start,
    status: "failed",
    attempts: [lastAttempt],
    next_attempt_at: null,
    due_at: start,
    trace: {},
    created_at: start,
    ...changes,
  };
}
