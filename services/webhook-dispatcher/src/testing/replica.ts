import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { createGuardedAgent } from "@vvs/egress";
import { newId } from "@vvs/ids";
import { createLogger } from "@vvs/logging";
import { Environment } from "@vvs/proto/common/v1/common";
import { type WebhookRequested, WebhookRequestedSchema } from "@vvs/proto/events/v1/events";
import { type Collection, type Db, MongoClient } from "mongodb";
import { type Delivering, type DeliveringOptions, startDelivering } from "../delivering.ts";
import type { Delivery } from "../delivery.ts";
import type { Endpoint } from "../endpoint.ts";
import { migrate } from "../migrate.ts";

export interface TestStore {
  readonly db: Db;
  readonly deliveries: Collection<Delivery>;
  readonly endpoints: Collection<Endpoint>;
  close(): Promise<void>;
}

/** A migrated database of the test's own. */
export async function testStore(): Promise<TestStore> {
  const prefix = `t${randomUUID().slice(0, 8)}_`;
  const client = new MongoClient(process.env.MONGODB_URI!, {
    readConcern: { level: "majority" },
    writeConcern: { w: "majority" },
    ignoreUndefined: true,
  });
  await migrate({ client, prefix });
  const db = client.db(`${prefix}webhook_dispatcher_live`);
  return {
    db,
    deliveries: db.collection("deliveries"),
    endpoints: db.collection("endpoints"),
    async close() {
      for (const environment of ["live", "sandbox"])
        await client.db(`${prefix}webhook_dispatcher_${environment}`).dropDatabase();
      await client.close();
    },
  };
}

export const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

export interface Replica extends Delivering {
  /** Lines of its log. */
  readonly lines: readonly Record<string, unknown>[];
  /** Takes events over, as from Kafka. */
  take(...events: WebhookRequested[]): Promise<void>;
  stop(): Promise<void>;
}

/** The engine of one environment, in this process, on a database that several may share. */
export function startReplica(db: Db, options: Partial<DeliveringOptions> = {}): Replica {
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const stopping = new AbortController();
  const dispatcher = createGuardedAgent({
    allowPrivateTargets: true,
    connectTimeoutMs: 2_000,
    connectionsPerOrigin: 1_000,
  });
  const delivering = startDelivering({
    environment: "live",
    db,
    dispatcher,
    askSecrets: async () => [SECRET],
    userAgent: "test",
    timeoutMs: 15_000,
    pools: {
      fast: { slots: 64, slotsPerOrganization: 64 },
      slow: { slots: 64, slotsPerOrganization: 32 },
    },
    limitPerUrl: 16,
    stopping: stopping.signal,
    logger: createLogger({ service: "test", level: "info", destination }),
    now: () => new Date(),
    ...options,
  });
  return {
    ...delivering,
    lines,
    take: (...events) => delivering.accept(events.map((message) => ({ message, timestamp: new Date(), trace: {} }))),
    async stop() {
      stopping.abort();
      // Attempts that would hang until their time is over end here.
      await dispatcher.destroy();
      await delivering.ended();
    },
  };
}

/** A change of which a subscriber is to be told. */
export function changeEvent(url: string, more: { monitorId?: string; runSeq?: number; organizationId?: string } = {}) {
  const at = new Date();
  return create(WebhookRequestedSchema, {
    eventId: newId("evt", at),
    tenant: { organizationId: more.organizationId ?? "org_1", environment: Environment.LIVE },
    run: { monitorId: more.monitorId ?? newId("mon"), runSeq: BigInt(more.runSeq ?? 1) },
    entityId: newId("ent", at),
    verificationId: newId("ver", at),
    webhookUrl: url,
    changes: [{ field: "sam_registration.registration_status", previous: "active", current: "expired" }],
    detectedAt: timestampFromDate(at),
  });
}

/** Waits until the condition holds. Errors: it does not within 30 s. */
export async function eventually(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error("what the test waits for did not come");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
