import { create } from "@bufbuild/protobuf";
import { beforeEach, expect, test } from "@jest/globals";
import { PoisonRecordError } from "@vvs/kafka";
import { CheckType, Environment } from "@vvs/proto/common/v1/common";
import { type MonitorStateChanged, MonitorStateChangedSchema } from "@vvs/proto/events/v1/events";
import { Frequency } from "@vvs/proto/monitor/v1/monitor";
import { testMongo } from "@vvs/testing";
import type { CheckSubject } from "../checks/check-inputs.ts";
import { migrateQueue, queueCollections } from "../questions/documents.ts";
import { migrateWatches, watchCollections } from "../questions/watch-documents.ts";
import { freshPriorities } from "../questions/watch-frequency.ts";
import { createWatchRecords } from "./watch-records.ts";
import { createPutWatch } from "./watches.ts";

const NOW = new Date("2026-11-22T09:00:00Z");
const { hourly, daily, weekly, monthly } = freshPriorities;
/** Identifiers of entities. */
const entities = new Map<string, { uei: string; cage: string }>();

const mongo = await testMongo();
const collections = { ...queueCollections(mongo.db), ...watchCollections(mongo.db) };
await migrateQueue(mongo.db);
await migrateWatches(mongo.db);
const handle = createWatchRecords({
  subjects: { read: async (_tenant, entityId) => entities.get(entityId) as CheckSubject },
  putWatch: createPutWatch({ client: mongo.client, collections }),
  now: () => NOW,
});
beforeEach(async () => {
  entities.clear();
  for (const entity of ["ent_1", "ent_own"]) entities.set(entity, { uei: "UEI1", cage: "" });
  entities.set("ent_2", { uei: "UEI2", cage: "" });
  await Promise.all([collections.watches.deleteMany(), collections.watched.deleteMany()]);
  await collections.publicAnswers.deleteMany();
});

/** A state of a monitor, whose organization has its name. */
function state(
  monitor: string,
  seq: number,
  change: Partial<Pick<MonitorStateChanged, "frequency" | "entityId" | "active">> = {},
) {
  return create(MonitorStateChangedSchema, {
    recordId: `${monitor}:state:${seq}`,
    tenant: { organizationId: `org of ${monitor}`, environment: Environment.LIVE },
    monitorId: monitor,
    entityId: "ent_1",
    active: true,
    frequency: Frequency.DAILY,
    checks: [CheckType.SAM_REGISTRATION],
    stateSeq: BigInt(seq),
    ...change,
  });
}
const canceled = (monitor: string, seq: number) => state(monitor, seq, { active: false });
const every = (frequency: Frequency) => ({ frequency });
/** The watched vendors with their shortest frequency. */
const watched = async () => {
  const found = await collections.watched.find().sort({ _id: 1 }).toArray();
  return Object.fromEntries(found.map(({ _id, priority }) => [_id, priority]));
};

test("a vendor is one question for all organizations, with the shortest frequency of their monitors and nothing of theirs", async () => {
  await Promise.all([handle(state("weekly", 1, every(Frequency.WEEKLY))), handle(state("daily", 1))]);
  await handle(state("own", 1, { ...every(Frequency.MONTHLY), entityId: "ent_own" }));
  await handle(state("other", 1, { ...every(Frequency.HOURLY), entityId: "ent_2" }));
  expect(await watched()).toEqual({ "uei:UEI1": daily, "uei:UEI2": hourly });
  const { writes: _, ...question } = (await collections.watched.findOne({ _id: "uei:UEI1" }))!;
  expect(question).toEqual({
    ...{ _id: "uei:UEI1", uei: "UEI1", cage: "", kind: "registered", priority: daily, failures: 0 },
    as_of: new Date(0),
    due_at: new Date(23 * 3_600_000),
  });
});

test("a monitor that is canceled or runs less often lowers it again, and without monitors a vendor is forgotten", async () => {
  await handle(state("one", 1, every(Frequency.HOURLY)));
  await handle(state("two", 1, every(Frequency.WEEKLY)));
  await handle(state("one", 2));
  expect(await watched()).toEqual({ "uei:UEI1": daily });
  await handle(canceled("one", 3));
  expect(await watched()).toEqual({ "uei:UEI1": weekly });
  await handle(canceled("two", 2));
  expect(await watched()).toEqual({});
});

test("another frequency changes when a vendor is due, from the date of its data", async () => {
  const asked_at = new Date("2026-11-22T08:00:00Z");
  await collections.publicAnswers.insertOne({ _id: "uei:UEI1", parts: {}, bodies: [], asked_at });
  await handle(state("one", 1));
  const due = async () => (await collections.watched.findOne({ _id: "uei:UEI1" }))!.due_at.toISOString();
  expect(await due()).toBe("2026-11-23T07:00:00.000Z");
  await handle(state("one", 2, every(Frequency.HOURLY)));
  expect(await due()).toBe("2026-11-22T08:50:00.000Z");
});

test("states may come repeatedly, in any order and at the same moment: the highest number and a cancellation decide", async () => {
  const random = seeded(7);
  const frequencies = [Frequency.HOURLY, Frequency.DAILY, Frequency.WEEKLY, Frequency.MONTHLY];
  const priorities = [hourly, daily, weekly, monthly];
  for (let round = 0; round < 10; round++) {
    const records: MonitorStateChanged[] = [];
    let shortest: number | undefined;
    for (let monitor = 0; monitor < 8; monitor++) {
      const id = `random ${round} ${monitor}`;
      const states = Array.from({ length: 1 + Math.floor(random() * 4) }, () => Math.floor(random() * 4));
      for (const [index, each] of states.entries()) records.push(state(id, index + 1, every(frequencies[each]!)));
      if (random() < 0.4) records.push(canceled(id, states.length + 1));
      else shortest = Math.min(shortest ?? monthly, priorities[states.at(-1)!]!);
    }
    const order = [...records, ...records].map((record) => [random(), record] as const);
    await Promise.all(order.toSorted(([a], [b]) => a - b).map(([, record]) => handle(record)));
    expect({ round, ...(await watched()) }).toEqual({ round, ...(shortest && { "uei:UEI1": shortest }) });
    await Promise.all([collections.watches.deleteMany(), collections.watched.deleteMany()]);
  }
});

test("a monitor without sam_registration, and a vendor without UEI and CAGE, are not watched", async () => {
  await handle(create(MonitorStateChangedSchema, { ...state("tin", 1), checks: [CheckType.TIN_MATCH] }));
  entities.set("ent_1", { uei: "", cage: "" });
  await handle(state("none", 1));
  expect(await watched()).toEqual({});
  // The monitor is published again once its vendor has an identifier.
  entities.set("ent_1", { uei: "", cage: "1ABC2" });
  await handle(state("none", 2));
  entities.set("ent_1", { uei: "UEI1", cage: "1ABC2" });
  await handle(state("none", 2));
  expect(await watched()).toEqual({ "uei:UEI1": daily });
});

test("a monitor of another organization is refused, without harm to records beside it", async () => {
  await handle(state("one", 1));
  const foreign = state("one", 2, every(Frequency.HOURLY));
  foreign.tenant!.organizationId = "org of others";
  const beside = handle(state("two", 1));
  await expect(handle(foreign)).rejects.toThrow(PoisonRecordError);
  await beside;
  expect(await watched()).toEqual({ "uei:UEI1": daily });
});

test("the shortest frequency is found by one key of the index, with any number of monitors", async () => {
  await collections.watches.insertMany(
    Array.from({ length: 500 }, (_, index) => ({
      ...{ _id: `mon_${index}`, organization_id: "org", entity_id: "ent_1", state_seq: 1 },
      ...{ question: "uei:UEI1", priority: index < 5 ? daily : weekly },
    })),
  );
  const commands = await mongo.db.command({
    explain: {
      aggregate: collections.watches.collectionName,
      pipeline: [
        { $match: { question: { $in: ["uei:UEI1", "uei:UEI2"] } } },
        { $sort: { question: 1, priority: 1 } },
        { $group: { _id: "$question", priority: { $first: "$priority" } } },
      ],
      cursor: {},
    },
    verbosity: "executionStats",
  });
  expect(JSON.stringify(commands)).toContain("DISTINCT_SCAN");
});

/** Returns numbers from 0 to 1 that depend only on the seed. */
function seeded(seed: number): () => number {
  let value = seed;
  return () => {
    value = (value * 16_807) % 2_147_483_647;
    return value / 2_147_483_647;
  };
}
