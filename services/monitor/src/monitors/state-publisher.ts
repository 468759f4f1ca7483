import { create, toBinary } from "@bufbuild/protobuf";
import { trace } from "@opentelemetry/api";
import type { Logger } from "@vvs/logging";
import { inTransaction } from "@vvs/mongo";
import {
  createLeases,
  createOutbox,
  type LeasedWork,
  type Leases,
  type OutboxRecord,
  runLeasedWork,
  shardOf,
} from "@vvs/outbox";
import { MonitorStateChangedSchema } from "@vvs/proto/events/v1/events";
import { type Environment, toProtoTenant } from "@vvs/tenant";
import type { Db, Filter, MongoClient } from "mongodb";
import { collections } from "../store.ts";
import type { MonitorDocument } from "./monitor.ts";

type PublishedMonitor = Pick<MonitorDocument, "_id" | "organization_id" | "entity_id" | "status">;

const BATCH = 200;
/** One process publishes all states. */
const SHARD = shardOf("monitor states");
const LEASE_MS = 15_000;
/** Pause between two searches for monitors, in milliseconds. Changes wait for the next one, so that a burst takes few. */
const POLL_MS = 1_000;

/** The index of the monitors whose state is not published, and those that it finds. */
export const UNPUBLISHED_STATE = {
  key: { published_status: 1, status: 1 },
  filters: [{ published_status: { $exists: false } }, { published_status: "active", status: "canceled" }],
} as const satisfies { key: object; filters: readonly Filter<MonitorDocument>[] };

interface PublisherOptions {
  readonly environment: Environment;
  readonly client: MongoClient;
  readonly db: Db;
  /** Full name of the environment's topic monitor.state_changed. */
  readonly topic: string;
  /** Wakes the outbox relay. */
  readonly nudge: () => void;
}

/**
 * Creates a function that publishes the states of all monitors whose newest state is not published: new and canceled ones,
 * those from before the topic existed, and those that replicas of an older version change. A state is noted as published
 * after its record is stored, so a crash in between publishes it again, which changes nothing. Errors: those of the database.
 */
export function createPublishStates(
  options: PublisherOptions & { leases: Pick<Leases, "held">; stopping: AbortSignal },
): () => Promise<void> {
  const { environment, client, db, topic, leases, stopping } = options;
  const { monitors } = collections(db);
  const outbox = createOutbox({ db });
  const tracer = trace.getTracer("monitor");

  async function publishSome(unpublished: Filter<MonitorDocument>): Promise<number> {
    const batch = await monitors
      .find(unpublished)
      .hint(UNPUBLISHED_STATE.key)
      .project<PublishedMonitor>({ organization_id: 1, entity_id: 1, status: 1 })
      .limit(BATCH)
      .toArray();
    if (batch.length === 0) return 0;
    const records = batch.map((monitor) => recordOf(environment, monitor, topic));
    await tracer.startActiveSpan("publish monitor states", { root: true }, (span) =>
      inTransaction(client, (session) => outbox.append(session, ...records)).finally(() => span.end()),
    );
    // One that was canceled meanwhile is found again, as its status is not the noted one.
    const noted = batch.map(({ _id, organization_id, status }) => ({
      updateOne: { filter: { _id, organization_id }, update: { $set: { published_status: status } } },
    }));
    await monitors.bulkWrite(noted, { ordered: false });
    options.nudge();
    return batch.length;
  }

  return async () => {
    for (const unpublished of UNPUBLISHED_STATE.filters) {
      while (leases.held().includes(SHARD) && !stopping.aborted && (await publishSome(unpublished)) > 0);
    }
  };
}

function recordOf(environment: Environment, monitor: PublishedMonitor, topic: string): OutboxRecord {
  const { _id: monitorId, organization_id: organizationId, entity_id: entityId, status } = monitor;
  const id = `${monitorId}:${status}`;
  const tenant = toProtoTenant({ organizationId, environment });
  const active = status === "active";
  const message = create(MonitorStateChangedSchema, { recordId: id, tenant, monitorId, entityId, active });
  return { id, topic, key: monitorId, seq: active ? 0 : 1, value: toBinary(MonitorStateChangedSchema, message) };
}

/** Publishes states of monitors until stopped. Of the replicas of the service, one does it at a time. */
export function runStatePublisher(options: PublisherOptions & { owner: string; logger: Logger }): LeasedWork {
  const { db, owner } = options;
  const stopping = new AbortController();
  const settled = async () => undefined; // two replicas may publish the same state
  const leases = createLeases({ db, name: "state_publisher", owner, leaseMs: LEASE_MS, settled });
  const work = createPublishStates({ ...options, leases, stopping: stopping.signal });
  const logger = options.logger.child({ database: db.databaseName, work: "state publisher" });
  return runLeasedWork({ leases, leaseMs: LEASE_MS, pollMs: POLL_MS, work, stopping, logger });
}
