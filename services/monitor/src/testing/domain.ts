// Shared by the tests of this service: a domain on real databases, with a clock that tests advance and a fake entity service.
import { type DescMessage, fromBinary, type MessageShape } from "@bufbuild/protobuf";
import { ServiceError } from "@vvs/errors";
import { newId } from "@vvs/ids";
import { topicNames } from "@vvs/kafka";
import { connectMongo, environmentDatabases } from "@vvs/mongo";
import type { CallerContext, Environment, Tenant } from "@vvs/tenant";
import { atEnd, databasePool, silentLogger as logger } from "@vvs/testing";
import { createMonitorDomain } from "../domain.ts";
import { migrate } from "../migrate.ts";
import type { MonitorDocument } from "../model/monitor.ts";
import type { NewMonitor } from "../monitors/monitor-commands.ts";
import { collections } from "../store.ts";

export const SECOND = 1_000;
export const HOUR = 3_600 * SECOND;
export const RUN_TIMEOUT_MS = 600 * SECOND;
export const FILE_RUN_SPREAD_MS = 600 * SECOND;

export const fastClock = {
  lastsMs: HOUR,
  intervalsMs: { hourly: 5 * SECOND, daily: 15 * SECOND, weekly: 60 * SECOND, monthly: 60 * SECOND },
};

const pool = databasePool();

export type TestDomain = Awaited<ReturnType<typeof createTestDomain>>;

/**
 * Creates one environment of the service on its own databases, until the tests of the file are over. `unknownEntity` is the
 * only entity that does not exist.
 */
export async function createTestDomain(
  options: {
    /** MONGODB_URI if absent. */
    uri?: string;
    environment?: Environment;
    /** Database prefix of another domain, to share its databases. */
    prefix?: string;
    fileRunSpreadMs?: number;
  } = {},
) {
  const { uri = process.env.MONGODB_URI!, environment = "sandbox", prefix = pool.take() } = options;
  const client = await connectMongo({
    uri,
    service: "monitor",
    logger,
    stopping: new AbortController().signal,
  });
  if (!options.prefix) await migrate({ client, prefix });
  const databases = environmentDatabases(client, prefix, "monitor");
  const db = databases[environment];
  // Near the real time, because MongoDB removes old runs by its own clock.
  const clock = { at: new Date(Math.floor(Date.now() / HOUR) * HOUR) };
  const unknownEntity = newId("ent");
  const entityTin = "123456789";
  const suspended = new Set<string>();
  const domain = createMonitorDomain({
    environment,
    client,
    db,
    topics: topicNames,
    expectEntity: async (_caller, entityId, { externalId, takenOver }) => {
      if (entityId === unknownEntity && !takenOver) throw new ServiceError("entity_not_found");
      if (externalId === entityTin) {
        throw new ServiceError("invalid_request", {
          details: [{ path: "external_id", message: "must not be the TIN" }],
        });
      }
    },
    allowPrivateTargets: false,
    runTimeoutMs: RUN_TIMEOUT_MS,
    isSuspended: (organizationId) => suspended.has(organizationId),
    leaseIntervalMs: 0,
    fileRunSpreadMs: options.fileRunSpreadMs ?? FILE_RUN_SPREAD_MS,
    fastClock,
    nudge: () => undefined,
    now: () => clock.at,
    stopping: new AbortController().signal,
    logger,
  });
  return {
    ...domain,
    ...collections(db),
    /** Creates a monitor and starts its first run. */
    async started(caller: CallerContext, wanted: NewMonitor): Promise<MonitorDocument> {
      const { value } = await domain.commands.create(caller, wanted);
      for (;;) {
        const monitor = (await domain.store.find(caller.tenant, value._id))!;
        if (monitor.open_run) return monitor;
        await domain.scheduler.claimDue();
      }
    },
    client,
    db,
    prefix,
    environment,
    unknownEntity,
    /** The TIN of every entity. */
    entityTin,
    /** Ids of suspended organizations. */
    suspended,
    clock,
    /** Advances the clock. */
    pass(ms: number) {
      clock.at = new Date(clock.at.getTime() + ms);
    },
    /** Returns the messages in the outbox for a topic, ordered by key and number. */
    async published<Desc extends DescMessage>(topic: string, schema: Desc): Promise<MessageShape<Desc>[]> {
      const rows = await db.collection("outbox").find({ topic }).sort({ key: 1, seq: 1 }).toArray();
      return rows.map((row) => fromBinary(schema, row.value.buffer));
    },
    /** Closes it before the tests of the file are over. */
    close: atEnd(async () => {
      if (!options.prefix) await pool.giveBack(prefix);
      await client.close();
    }),
  };
}

/** Returns a caller of a new organization. */
export function someCaller(environment: Environment = "sandbox"): CallerContext {
  return callerIn({ organizationId: newId("org"), environment });
}

/** Returns a caller of this organization and environment. */
export function callerIn(tenant: Tenant): CallerContext {
  return { tenant, actor: newId("key"), requestId: newId("req") };
}

export function someMonitor(change: Partial<NewMonitor> = {}): NewMonitor {
  return {
    entityId: newId("ent"),
    checks: ["sam_registration"],
    frequency: "daily",
    webhookUrl: "https://example.com/hook",
    externalId: undefined,
    activeLimit: 100,
    idempotency: undefined,
    ...change,
  };
}
