// For tests: a migrated database of their own, and deliveries as the engine leaves them.
import { randomUUID } from "node:crypto";
import { newId } from "@vvs/ids";
import type { Tenant } from "@vvs/tenant";
import { type Db, MongoClient } from "mongodb";
import type { Attempt, Delivery } from "./delivery.ts";
import { endpointId } from "./endpoint.ts";
import { migrate } from "./migrate.ts";

export const tenant: Tenant = { organizationId: "org_1", environment: "live" };
export const stranger: Tenant = { organizationId: "org_2", environment: "live" };
export const start = new Date("2026-11-21T09:00:00.000Z");
export const later = (seconds: number) => new Date(start.getTime() + seconds * 1000);
export const HOOK = "https://subscriber.example/hook";

export interface TestDeliveries {
  /** Of the live environment. */
  readonly db: Db;
  /** Keeps a failed delivery that was accepted at `start`, but for what is changed; returns it. */
  add(changes?: Partial<Delivery>): Promise<Delivery>;
  find(id: string): Promise<Delivery>;
  /** Forgets all. */
  clear(): Promise<void>;
  /** Drops the databases. */
  close(): Promise<void>;
}

export async function createTestDeliveries(uri: string): Promise<TestDeliveries> {
  const prefix = `t${randomUUID().slice(0, 8)}_`;
  const options = {
    readConcern: { level: "majority" },
    writeConcern: { w: "majority" },
    ignoreUndefined: true,
  } as const;
  const client = new MongoClient(uri, options);
  await migrate({ client, prefix });
  const db = client.db(`${prefix}webhook_dispatcher_live`);
  const deliveries = db.collection<Delivery>("deliveries");
  return {
    db,
    async add(changes = {}) {
      const delivery = failedDelivery(changes);
      await deliveries.insertOne(delivery);
      return delivery;
    },
    find: async (id) => (await deliveries.findOne({ _id: id }))!,
    async clear() {
      for (const name of ["deliveries", "endpoints", "replays"]) await db.collection(name).deleteMany({});
    },
    async close() {
      for (const environment of ["live", "sandbox"])
        await client.db(`${prefix}webhook_dispatcher_${environment}`).dropDatabase();
      await client.close();
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

function failedDelivery(changes: Partial<Delivery>): Delivery {
  const { organization_id = tenant.organizationId, webhook_url = HOOK } = changes;
  return {
    _id: newId("dlv"),
    organization_id,
    event_id: newId("evt"),
    monitor_id: "mon_1",
    run_seq: 1,
    entity_id: "ent_1",
    verification_id: "ver_1",
    webhook_url,
    endpoint_id: endpointId(organization_id, webhook_url),
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
