import { type TopicName, topicNames } from "@vvs/kafka";
import { createLogger } from "@vvs/logging";
import { connectMongo, databaseClock, environmentDatabases } from "@vvs/mongo";
import { createMonitorDomain } from "../../../services/monitor/src/domain.ts";
import { migrate } from "../../../services/monitor/src/migrate.ts";
import { LEASE_INTERVAL_MS } from "../../../services/monitor/src/runs/scheduler.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;

/** Opens the live monitors of a database prefix like a replica of the service, with a client of its own. */
export async function openLiveDomain(options: {
  mongodbUri: string;
  prefix: string;
  /** The full name of each topic; the one without a prefix where absent. */
  topicFor?: (topic: TopicName) => string;
  /** The database's clock where absent. */
  now?: () => Date;
}) {
  const { mongodbUri: uri, prefix, topicFor = (topic) => topic } = options;
  const logger = createLogger({ service: "monitor", level: "error" });
  const stopping = new AbortController();
  const client = await connectMongo({ uri, service: "monitor", logger, stopping: stopping.signal });
  const db = environmentDatabases(client, prefix, "monitor").live;
  const domain = createMonitorDomain({
    environment: "live",
    client,
    db,
    topics: {
      verificationRequested: topicFor(topicNames.verificationRequested),
      verificationRequestedTin: topicFor(topicNames.verificationRequestedTin),
      webhookRequested: topicFor(topicNames.webhookRequested),
    },
    expectEntity: async () => undefined,
    allowPrivateTargets: false,
    runTimeoutMs: 600_000,
    isSuspended: () => false,
    leaseIntervalMs: LEASE_INTERVAL_MS,
    fileRunSpreadMs: 0,
    fastClock: { lastsMs: 0, intervalsMs: { hourly: DAY_MS, daily: DAY_MS, weekly: DAY_MS, monthly: DAY_MS } },
    nudge: () => undefined,
    now: options.now ?? (await databaseClock({ client, stopping: stopping.signal })),
    stopping: stopping.signal,
    logger,
  });
  return {
    ...domain,
    client,
    db,
    logger,
    stopping: stopping.signal,
    migrate: () => migrate({ client, prefix }),
    async close() {
      stopping.abort();
      await client.close();
    },
  };
}

export type LiveDomain = Awaited<ReturnType<typeof openLiveDomain>>;
