import { create, toBinary } from "@bufbuild/protobuf";
import { trace } from "@opentelemetry/api";
import { toCheckType } from "@vvs/checks";
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
import { type Frequency, frequencies, protoFrequencies } from "../model/frequency.ts";
import type { MonitorDocument } from "../model/monitor.ts";
import { collections } from "../store.ts";

type PublishedMonitor = Pick<MonitorDocument, "_id" | "organization_id" | "entity_id" | "checks"> &
  Required<Pick<MonitorDocument, "publishing">>;

const BATCH = 200;
/** One process publishes all states. */
const SHARD = shardOf("monitor states");
/** Pause between two searches for monitors, in milliseconds. Changes wait for the next one, so that a burst takes few. */
const POLL_MS = 1_000;

const byStatus = { published_status: 1, status: 1 } as const;
const byFrequency = { published_frequency: 1, status: 1, frequency: 1 } as const;
const isOther = (published_frequency: Frequency) => ({ published_frequency, frequency: { $ne: published_frequency } });

/** The monitors whose state is not published, each with its index. */
export const UNPUBLISHED_STATES = [
  { index: byStatus, filter: { published_status: { $exists: false } } },
  { index: byStatus, filter: { published_status: "active", status: "canceled" } },
  {
    index: byFrequency,
    filter: { status: "active", $or: [{ published_frequency: { $exists: false } }, ...frequencies.map(isOther)] },
  },
] as const satisfies { index: Readonly<Record<string, 1>>; filter: Filter<MonitorDocument> }[];

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
 * those with another frequency, and those whose state is to be published again. A state gets its number before its record is stored, and is noted as published after it. So a crash in between
 * publishes it again under a higher number, which changes nothing. Errors: those of the database.
 */
export function createPublishStates(options: PublisherOptions & { leases: Pick<Leases, "held"> }): () => Promise<void> {
  const { environment, client, db, topic, leases } = options;
  const { monitors } = collections(db);
  const outbox = createOutbox({ db });
  const tracer = trace.getTracer("monitor");

  async function publishSome({ index, filter }: (typeof UNPUBLISHED_STATES)[number]): Promise<number> {
    const found = await monitors.find(filter).hint(index).project<{ _id: string }>({ _id: 1 }).limit(BATCH).toArray();
    if (found.length === 0) return 0;
    const these = { _id: { $in: found.map(({ _id }) => _id) } };
    const seq = { $add: [{ $ifNull: ["$publishing.seq", 0] }, 1] };
    await monitors.updateMany(these, [{ $set: { publishing: { seq, status: "$status", frequency: "$frequency" } } }]);
    const batch = await monitors
      .find(these)
      .project<PublishedMonitor>({ organization_id: 1, entity_id: 1, checks: 1, publishing: 1 })
      .toArray();
    const records = batch.map((monitor) => recordOf(environment, monitor, topic));
    await tracer.startActiveSpan("publish monitor states", { root: true }, (span) =>
      inTransaction(client, (session) => outbox.append(session, ...records)).finally(() => span.end()),
    );
    // One that was changed meanwhile is found again, as its state is not the noted one.
    const noted = batch.map(({ _id, organization_id, publishing: { seq, status, frequency } }) => ({
      updateOne: {
        filter: { _id, organization_id, "publishing.seq": seq },
        update: { $set: { published_status: status, published_frequency: frequency } },
      },
    }));
    await monitors.bulkWrite(noted, { ordered: false });
    options.nudge();
    return batch.length;
  }

  return async () => {
    for (const unpublished of UNPUBLISHED_STATES) {
      while (leases.held().includes(SHARD) && (await publishSome(unpublished)) > 0);
    }
  };
}

function recordOf(environment: Environment, monitor: PublishedMonitor, topic: string): OutboxRecord {
  const { _id: monitorId, organization_id: organizationId, entity_id: entityId, publishing } = monitor;
  const { seq, status, frequency } = publishing;
  const id = `${monitorId}:state:${seq}`;
  const message = create(MonitorStateChangedSchema, {
    ...{ recordId: id, tenant: toProtoTenant({ organizationId, environment }), monitorId, entityId },
    active: status === "active",
    frequency: protoFrequencies[frequency],
    checks: monitor.checks.map(toCheckType),
    stateSeq: BigInt(seq),
  });
  return { id, topic, key: monitorId, seq, value: toBinary(MonitorStateChangedSchema, message) };
}

/** Publishes states of monitors until stopped. Of the replicas of the service, one does it at a time. */
export function runStatePublisher(options: PublisherOptions & { logger: Logger }): LeasedWork {
  const { db, logger } = options;
  const leases = createLeases({ db, name: "state_publisher" });
  return runLeasedWork({ leases, pollMs: POLL_MS, work: createPublishStates({ ...options, leases }), logger });
}
