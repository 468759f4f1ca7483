// What the tests of this service share: a world on real databases, with a clock that they turn and a pretended entity service.
import { randomUUID } from "node:crypto";
import { type DescMessage, fromBinary, type MessageShape } from "@bufbuild/protobuf";
import { ServiceError } from "@vvs/errors";
import { newId } from "@vvs/ids";
import { createLogger } from "@vvs/logging";
import { connectMongo, environmentDatabases } from "@vvs/mongo";
import type { CallerContext, Environment } from "@vvs/tenant";
import { migrate } from "./migrate.ts";
import type { NewMonitor } from "./monitor-life.ts";
import { collections } from "./store.ts";
import { createWorld } from "./world.ts";

export const SECOND = 1_000;
export const HOUR = 3_600 * SECOND;
export const RUN_TIMEOUT_MS = 600 * SECOND;

export const fastClock = {
  lastsMs: HOUR,
  intervalsMs: { hourly: 5 * SECOND, daily: 15 * SECOND, weekly: 60 * SECOND, monthly: 60 * SECOND },
};

export type TestWorld = Awaited<ReturnType<typeof createTestWorld>>;

/** One environment of the service on databases of its own; `unknownEntity` is the one entity that is not there. */
export async function createTestWorld(options: {
  uri: string;
  environment?: Environment;
  /** Databases of another world, to share them. */
  prefix?: string;
}) {
  const { environment = "sandbox", prefix = newPrefix() } = options;
  const logger = createLogger({ service: "monitor", level: "silent" });
  const client = await connectMongo({
    uri: options.uri,
    service: "monitor",
    logger,
    stopping: new AbortController().signal,
  });
  await migrate({ client, prefix });
  const databases = environmentDatabases(client, prefix, "monitor");
  const db = databases[environment];
  const clock = { at: new Date("2026-03-01T08:00:00.000Z") };
  const unknownEntity = newId("ent");
  const world = createWorld({
    environment,
    client,
    db,
    topics: { verificationRequested: "verification.requested", webhookRequested: "webhook.requested" },
    expectEntity: async (_caller, entityId) => {
      if (entityId === unknownEntity) throw new ServiceError("entity_not_found");
    },
    allowPrivateTargets: false,
    runTimeoutMs: RUN_TIMEOUT_MS,
    fastClock,
    nudge: () => undefined,
    now: () => clock.at,
    logger,
  });
  return {
    ...world,
    ...collections(db),
    prefix,
    environment,
    unknownEntity,
    clock,
    /** Turns the clock forward. */
    pass(ms: number) {
      clock.at = new Date(clock.at.getTime() + ms);
    },
    /** What waits to be published to a topic, in the order of its key's numbers. */
    async published<Desc extends DescMessage>(topic: string, schema: Desc): Promise<MessageShape<Desc>[]> {
      const rows = await db.collection("outbox").find({ topic }).sort({ key: 1, seq: 1 }).toArray();
      return rows.map((row) => fromBinary(schema, row.value.buffer));
    },
    async close() {
      // Whoever made the databases drops them.
      if (!options.prefix) for (const each of Object.values(databases)) await each.dropDatabase();
      await client.close();
    },
  };
}

/** Names databases and topics that no other test has. */
export const newPrefix = () => `t${randomUUID().slice(0, 8)}_`;

/** A caller of an organization of its own. */
export function someCaller(environment: Environment = "sandbox"): CallerContext {
  return { tenant: { organizationId: newId("org"), environment }, actor: newId("key"), requestId: newId("req") };
}

export function someMonitor(change: Partial<NewMonitor> = {}): NewMonitor {
  return {
    entityId: newId("ent"),
    checks: ["sam_registration"],
    frequency: "daily",
    webhookUrl: "https://example.com/hook",
    activeLimit: 100,
    idempotency: undefined,
    ...change,
  };
}
