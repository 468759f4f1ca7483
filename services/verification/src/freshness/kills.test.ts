import { create, fromBinary } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { topicFor, topicNames } from "@vvs/kafka";
import { CheckType, Environment } from "@vvs/proto/common/v1/common";
import { MonitorStateChangedSchema, RegistryChangedSchema } from "@vvs/proto/events/v1/events";
import { Frequency } from "@vvs/proto/monitor/v1/monitor";
import { eventually, mongoProxy } from "@vvs/testing";
import { watchCollections } from "../questions/watch-documents.ts";
import { type KilledWork, killAtEachWrite } from "../testing/kills.ts";
import { startPlayedQueue } from "../testing/played-queue.ts";
import type { TestService } from "../testing/service.ts";

// Replicas that note who is watched and ask about it: one that is killed at each of its writes, and two at the same time.

const TOPIC = topicFor({ environment: "live", topic: topicNames.registryChanged });
const QUOTA = { SAM_GOV_DAILY_QUOTA: "1000" };
const queue = await startPlayedQueue("2026-11-22T09:00:00Z");
const survivor = await queue.startReplica(QUOTA);

const COLLECTIONS = [
  ...["sam_gov_watches", "sam_gov_watched", "public_answers", "sam_gov_days", "sam_gov_asker", "outbox"],
];
const watchedOf = (uei: string) => watchCollections(survivor.databases.live).watched.findOne({ _id: `uei:${uei}` });

/** Lists vendors in an extract of some days ago; those that SAM.gov knows by another name changed since. */
function listed(ueis: readonly string[], renamed: ReadonlySet<string>, days = 21): void {
  const dates = { registryCutDate: queue.daysAgo(days), registryLoad: "registry:1" };
  const exclusions = { exclusionsCutDate: queue.daysAgo(0), exclusionsLoad: "exclusions:1" };
  for (const uei of ueis) {
    const expirationDate = "2027-03-01";
    queue.sam.register({ uei, legalName: renamed.has(uei) ? "New name" : "V", expirationDate });
    const type = "Corporate Entity (Not Tax Exempt)";
    const record = { uei, legalName: "V", extractCode: "A", expirationDate, cage: "1PLY1", entityType: type };
    queue.setFiles(uei, { record, ...dates, ...exclusions });
  }
}

/** The record of a new daily monitor, which replicas know the vendor of. */
function monitorOf(uei: string, replicas: readonly TestService[]) {
  const [organizationId, entityId, monitorId] = [newId("org"), newId("ent"), newId("mon")];
  for (const { entities } of replicas) entities.put(organizationId, entityId, { subject: { legalName: "V", uei } });
  const record = create(MonitorStateChangedSchema, {
    ...{ recordId: `${monitorId}:state:1`, monitorId, entityId, active: true, stateSeq: 1n },
    ...{ frequency: Frequency.DAILY, checks: [CheckType.SAM_REGISTRATION] },
    tenant: { organizationId, environment: Environment.LIVE },
  });
  return { entityId, record };
}

/** The entities that answers of SAM.gov were published for, each time. */
async function published(): Promise<string[]> {
  const rows = await survivor.databases.live.collection("outbox").find({ topic: TOPIC }).toArray();
  return rows.flatMap((row) => fromBinary(RegistryChangedSchema, row.value.buffer).entityIds);
}

async function prepare(replica: TestService, id: string): Promise<KilledWork> {
  const uei = `FRESHK0${id}`;
  listed([uei], new Set([uei]));
  const { entityId, record } = monitorOf(uei, [survivor, replica]);
  const calls = queue.sam.calls("entities").length;
  return {
    async work() {
      await replica.noteMonitor(record);
      await replica.queue.ask();
    },
    async recover() {
      // Kafka delivers a record again whose offset was not committed.
      await survivor.noteMonitor(record);
      await eventually(async () => {
        await survivor.queue.ask();
        return (await watchedOf(uei))?.as_of.getTime() === queue.now().getTime();
      });
    },
    async check() {
      expect(await watchedOf(uei)).toMatchObject({ as_of: queue.now(), failures: 0, kind: "registered" });
      expect((await published()).filter((id) => id === entityId)).toHaveLength(1);
      // Only a kill between the call and the storing of its answer costs a second call.
      expect(queue.sam.calls("entities").length - calls).toBeLessThanOrEqual(2);
    },
  };
}

test.each(["before", "after"] as const)(
  "a changed answer moves the date and starts the vendor's runs once, whichever write its replica is killed at: %s the write",
  async (when) => {
    const kills = await killAtEachWrite(queue, { when, collections: COLLECTIONS, variables: QUOTA }, prepare);
    // The watch, the lease and the answer have some writes each.
    expect(kills).toBeGreaterThanOrEqual(8);
  },
  300_000,
);

test("of two replicas one asks at a time, and each vendor once", async () => {
  const other = await queue.startReplica(QUOTA);
  await queue.freeAsker();
  const ueis = Array.from({ length: 250 }, (_, index) => `FRESHT${String(index).padStart(6, "0")}`);
  const renamed = new Set(ueis.filter((_, index) => index % 50 === 0));
  listed(ueis, renamed);
  const monitors = ueis.map((uei) => ({ uei, ...monitorOf(uei, [survivor, other]) }));
  // Each replica reads some of the records, and some are read by both.
  await Promise.all(
    monitors.flatMap(({ record }, index) => [
      ...(index % 3 === 0 ? [] : [survivor.noteMonitor(record)]),
      ...(index % 3 === 1 ? [] : [other.noteMonitor(record)]),
    ]),
  );
  const before = queue.sam.calls("entities").length;
  await Promise.all([survivor.queue.ask(), other.queue.ask()]);
  const pages = queue.sam
    .calls("entities")
    .slice(before)
    .filter(({ query }) => query.page === "0");
  const asked = pages.flatMap(({ query }) => query.ueiSAM!.replaceAll(/[[\]]/g, "").split("~"));
  expect(asked.toSorted()).toEqual(ueis);
  const dates = await watchCollections(survivor.databases.live).watched.distinct("as_of", { uei: { $in: ueis } });
  expect(dates).toEqual([queue.now()]);
  const changed = monitors.filter(({ uei }) => renamed.has(uei)).map(({ entityId }) => entityId);
  const ours = new Set(monitors.map(({ entityId }) => entityId));
  expect((await published()).filter((id) => ours.has(id)).toSorted()).toEqual(changed.toSorted());
});

test("vendors that a new extract answers are looked up and written a hundred at a time, without calls", async () => {
  const proxy = await mongoProxy(process.env.MONGODB_URI!);
  const replica = await queue.startReplica(QUOTA, { mongodbUri: proxy.uri });
  const ueis = Array.from({ length: 300 }, (_, index) => `FRESHL${String(index).padStart(6, "0")}`);
  listed(ueis, new Set(), 0);
  const records = ueis.map((uei) => monitorOf(uei, [replica]).record);
  await Promise.all(records.map(replica.noteMonitor));
  await queue.freeAsker();
  const calls = queue.sam.calls().length;
  const reads: number[] = [];
  replica.entities.schedule.registry = async (vendors) => void reads.push(vendors);
  let writes = 0;
  proxy.killAt(0, "before", ({ name, collection }) => {
    if (name === "update" && collection === "sam_gov_watched") writes += 1;
    return false;
  });
  await replica.queue.ask();
  // The first read is that of the withdrawn loads.
  expect([reads, writes]).toEqual([[0, 100, 100, 100], 3]);
  expect(queue.sam.calls()).toHaveLength(calls);
  expect(await watchedOf(ueis[0]!)).toMatchObject({ load: "registry:1", as_of: new Date(queue.daysAgo(0)) });
  await queue.stopReplicas();
  proxy.close();
});
