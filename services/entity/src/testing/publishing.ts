import { fromBinary } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { createLeases, type Leases } from "@vvs/outbox";
import { LoadStep, RegistryChangedSchema } from "@vvs/proto/events/v1/events";
import { silentLogger } from "@vvs/testing";
import type { Binary, MongoClient } from "mongodb";
import { createPublisher } from "../announcements/publisher.ts";
import type { TestApplication } from "./application.ts";

// Publishes what loads of a test application changed, into its outbox.

export const TOPIC = "live.registry.changed";

/** Returns leases by which a publisher of the application may publish now. */
export async function holdPublisher(app: TestApplication, owner: string, leaseMs = 60_000): Promise<Leases> {
  const leases = createLeases({ db: app.databases.live, name: "registry_publisher", owner, leaseMs });
  await leases.renew();
  return leases;
}

/** Returns a publisher of the application; the client may be another, such as one whose commits fail. */
export function publisherOf(
  app: TestApplication,
  leases: Pick<Leases, "held" | "touch" | "settling">,
  client: MongoClient = app.client,
) {
  return createPublisher({
    client,
    db: app.databases.live,
    topic: TOPIC,
    nudge: () => {},
    logger: silentLogger,
    leases,
  });
}

/** Takes the records out of the outbox, and returns those of changes, in the order of their writing. */
export async function takeRecords(app: TestApplication) {
  return (await takeAll(app)).filter(({ step }) => step === LoadStep.UNSPECIFIED);
}

async function takeAll(app: TestApplication) {
  const outbox = app.databases.live.collection<{ topic: string; key: string; value: Binary }>("outbox");
  const rows = await outbox.find().sort({ _id: 1 }).toArray();
  await outbox.deleteMany({ _id: { $in: rows.map(({ _id }) => _id) } });
  return rows.map(({ topic, key, value }) => {
    const { changedAt, $typeName, ...record } = fromBinary(RegistryChangedSchema, value.buffer);
    return { topic, key, ...record, changedAt: timestampDate(changedAt!) };
  });
}

/** Publishes everything and returns the records of changes. */
export async function publishAll(app: TestApplication) {
  return (await publishSteps(app)).filter(({ step }) => step === LoadStep.UNSPECIFIED);
}

/** Publishes everything and returns all records, those of steps too. */
export async function publishSteps(app: TestApplication) {
  const leases = await holdPublisher(app, "test");
  await publisherOf(app, leases).run();
  await leases.release();
  return takeAll(app);
}
