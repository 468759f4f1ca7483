import { create, fromBinary } from "@bufbuild/protobuf";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { ServiceError } from "@vvs/errors";
import { newId } from "@vvs/ids";
import { topicFor, topicNames } from "@vvs/kafka";
import { CheckType, Environment } from "@vvs/proto/common/v1/common";
import { MonitorStateChangedSchema, RegistryChangedSchema } from "@vvs/proto/events/v1/events";
import { Frequency } from "@vvs/proto/monitor/v1/monitor";
import { eventually } from "@vvs/testing";
import { providerCallsOf } from "../provider-health/provider-calls-store.ts";
import { watchCollections } from "../questions/watch-documents.ts";
import { createTestMonitor, startPlayedQueue } from "../testing/played-queue.ts";
import type { TestService } from "../testing/service.ts";

// The service with its queue: vendors of monitors whose data is asked for again, with a simulated SAM.gov and real calls.

const TOPIC = topicFor({ environment: "live", topic: topicNames.registryChanged });
/** The type of SAM.gov's played vendors. */
const CORPORATION = "Corporate Entity (Not Tax Exempt)";
const HOURLY = Frequency.HOURLY;
/** Owns the databases. */
let service: TestService;
let serial = 0;
let uei: string;
/** Number of calls to SAM.gov before the test. */
let before: number;

const queue = await startPlayedQueue("2026-11-22T09:00:00Z");
const owner = await queue.startReplica();
beforeEach(async () => {
  uei = newUei();
  queue.setTime("2026-11-22T09:00:00Z");
  await startWith("1000");
  before = queue.sam.calls().length;
});
afterEach(async () => {
  queue.sam.behave();
  await queue.stopReplicas();
  const { live } = owner.databases;
  const names = ["parked_runs", "sam_gov_questions", "sam_gov_watches", "sam_gov_watched", "public_answers", "outbox"];
  await Promise.all([...names, "provider_calls", "sam_gov_days"].map((name) => live.collection(name).deleteMany({})));
  await queue.freeAsker();
});

/** Starts a replica with this quota; undefined: none is configured. */
async function startWith(quota: string | undefined): Promise<void> {
  service = await queue.startReplica(quota ? { SAM_GOV_DAILY_QUOTA: quota } : {});
  await queue.freeAsker();
}
function newUei(): string {
  serial += 1;
  return `FRESHV${String(serial).padStart(6, "0")}`;
}
const watchedOf = (key: string) => watchCollections(service.databases.live).watched.findOne({ _id: key });
/** The vendors of SAM.gov's calls for registrations since the test began, without further pages. */
const asked = () =>
  queue.sam
    .calls("entities")
    .slice(before)
    .filter(({ query }) => query.samRegistered === "Yes" && query.page === "0")
    .map(({ query }) => query.ueiSAM!.replaceAll(/[[\]]/g, "").split("~"));

/** The extract of three weeks ago with an active vendor, and today's exclusions file without it. */
const extract = (vendor: string, change: object = {}) =>
  queue.setFiles(vendor, {
    record: {
      uei: vendor,
      legalName: "V",
      extractCode: "A",
      expirationDate: "2027-03-01",
      cage: "1PLY1",
      entityType: CORPORATION,
    },
    ...{ registryCutDate: "2026-11-01", registryLoad: "registry:1" },
    ...{ exclusionsCutDate: queue.daysAgo(0), exclusionsLoad: "exclusions:1" },
    ...change,
  });

/** An active monitor of a vendor that SAM.gov and the extract list. */
async function monitored(vendor = uei, { frequency = Frequency.DAILY, isListed = true } = {}) {
  if (isListed) {
    queue.sam.register({ uei: vendor, legalName: "V", expirationDate: "2027-03-01" });
    extract(vendor);
  }
  const monitor = { monitorId: newId("mon"), organizationId: newId("org"), entityId: newId("ent") };
  service.entities.put(monitor.organizationId, monitor.entityId, { subject: { legalName: "V", uei: vendor } });
  await note(monitor, frequency);
  return monitor;
}
const note = (
  { monitorId, organizationId, entityId }: { monitorId: string; organizationId: string; entityId: string },
  frequency: Frequency,
) =>
  service.noteMonitor(
    create(MonitorStateChangedSchema, {
      ...{ recordId: `${monitorId}:state:1`, monitorId, entityId, active: true, frequency, stateSeq: 1n },
      tenant: { organizationId, environment: Environment.LIVE },
      checks: [CheckType.SAM_REGISTRATION],
    }),
  );
/** The counts of today's calls. */
const today = () => ({ day: new Date(queue.daysAgo(0)) });
const ask = () => service.queue.ask();
const published = async () => {
  const rows = await service.databases.live.collection("outbox").find({ topic: TOPIC }).toArray();
  return rows.map((row) => fromBinary(RegistryChangedSchema, row.value.buffer));
};

test("a daily vendor is asked when its data is nearly a day old, and an unchanged answer only moves the date", async () => {
  await monitored();
  await ask();
  expect(asked()).toEqual([[uei]]);
  const first = await watchedOf(`uei:${uei}`);
  expect(first!.as_of).toEqual(queue.now());
  queue.setTime("2026-11-23T08:44:00Z");
  await ask();
  expect(asked()).toHaveLength(1);
  queue.setTime("2026-11-23T08:45:00Z");
  await ask();
  expect(asked()).toEqual([[uei], [uei]]);
  expect((await watchedOf(`uei:${uei}`))!.as_of).toEqual(queue.now());
  expect(await published()).toEqual([]);
  // A later run finds the answer.
  const monitor = createTestMonitor({ uei }, { replicas: [service] });
  queue.sam.misbehave({ kind: "status", status: 503 }, { calls: 1 });
  expect(await monitor.run()).toBe("pass sam_gov_api");
});

test("an unchanged answer writes the date, the kept answer and the numbers of the day, and nothing else", async () => {
  await monitored();
  await ask();
  queue.passHours(23.75);
  extract(uei);
  const hashes = async (): Promise<Record<string, string>> =>
    (await service.databases.live.command({ dbHash: 1 })).collections;
  const earlier = await hashes();
  await ask();
  expect(asked()).toEqual([[uei], [uei]]);
  const written = Object.entries(await hashes()).filter(([name, hash]) => earlier[name] !== hash);
  const allowed = ["provider_calls", "provider_state", "public_answers", "sam_gov_asker", "sam_gov_days"];
  expect([...allowed, "sam_gov_watched"]).toEqual(expect.arrayContaining(written.map(([name]) => name)));
});

test("an answer that differs is published for the entities of all its monitors, once, and urgently where the status differs", async () => {
  const [one, two] = [await monitored(), await monitored(uei, { isListed: false })];
  const [renamed, same] = [newUei(), newUei()];
  const third = await monitored(renamed);
  await monitored(same);
  queue.sam.forget(uei);
  queue.sam.forget(renamed);
  queue.sam.register({ uei: renamed, legalName: "New name", expirationDate: "2027-03-01" });
  await ask();
  const [record, ...others] = await published();
  expect(others).toEqual([]);
  const excluded = [one.entityId, two.entityId].sort();
  expect(record!.entityIds).toEqual([...excluded, third.entityId].sort());
  expect(record!.urgentEntityIds).toEqual(excluded);
  expect(record!.loadId).toMatch(/^answers:uei:/);
  expect(Number(record!.changedAt!.seconds) * 1_000).toBe(queue.now().getTime());
  queue.passHours(24);
  for (const vendor of [uei, renamed, same]) extract(vendor);
  await ask();
  expect(await published()).toHaveLength(1);
});

test("an answer that a run waited for is published where it differs, for the monitors that do not wait for it", async () => {
  const none = () => extract(uei, { record: undefined });
  const monthly = await monitored(uei, { frequency: Frequency.MONTHLY, isListed: false });
  const daily = createTestMonitor({ uei }, { replicas: [service] });
  await note(daily, Frequency.DAILY);
  /** Has the daily monitor ask on the next day; returns its result. */
  const askOnNextDay = async () => {
    queue.passHours(24);
    none();
    expect(await daily.run()).toBe("parked");
    await queue.work(service);
    return daily.result();
  };
  none();
  await daily.run();
  expect(await askOnNextDay()).toBe("fail sam_gov_api not_found");
  expect(await askOnNextDay()).toBe("fail sam_gov_api not_found");
  expect(await published()).toEqual([]);
  queue.sam.register({ uei, legalName: "V", expirationDate: "2027-03-01" });
  expect(await askOnNextDay()).toBe("pass sam_gov_api");
  expect(await published()).toMatchObject([{ entityIds: [monthly.entityId], urgentEntityIds: [monthly.entityId] }]);
});

test("an answer that can't be stored at first is published with the time when it is, so that it counts as newer than loads until then", async () => {
  await monitored();
  queue.sam.forget(uei);
  const validate = (validator: object) => service.databases.live.command({ collMod: "outbox", validator });
  await validate({ never: true });
  await expect(ask()).rejects.toThrow();
  await validate({});
  queue.passHours(1);
  await ask();
  expect(asked()).toEqual([[uei]]);
  const [record] = await published();
  expect(Number(record!.changedAt!.seconds) * 1_000).toBe(queue.now().getTime());
});

test("vendors whose file is new enough are not asked", async () => {
  await monitored(uei, { frequency: Frequency.MONTHLY });
  await ask();
  expect(asked()).toEqual([]);
  expect(await watchedOf(`uei:${uei}`)).toMatchObject({ as_of: new Date("2026-11-01") });
  queue.setTime("2026-11-30T23:45:00Z");
  extract(uei);
  await ask();
  expect(asked()).toEqual([[uei]]);
});

test("the most frequent are asked first, then those with the oldest data, and runs before all of them", async () => {
  const vendors = Array.from({ length: 120 }, newUei);
  const frequencies = [Frequency.WEEKLY, Frequency.DAILY, HOURLY];
  for (const [index, vendor] of vendors.entries()) await monitored(vendor, { frequency: frequencies[index % 3]! });
  const of = (frequency: Frequency) => vendors.filter((_, index) => frequencies[index % 3] === frequency).sort();
  const oldest = of(Frequency.WEEKLY).slice(20);
  const { watched } = watchCollections(service.databases.live);
  for (const [at, ueis] of [
    [0, oldest],
    [1, of(Frequency.WEEKLY).slice(0, 20)],
  ] as const) {
    await watched.updateMany({ uei: { $in: ueis } }, { $set: { due_at: new Date(at) } });
  }
  queue.setFiles(uei, { exclusionsCutDate: queue.daysAgo(0), exclusionsLoad: "exclusions:1" });
  queue.sam.misbehave({ kind: "status", status: 503 }, { calls: 1 });
  const monitor = createTestMonitor({ uei }, { replicas: [service] });
  expect(await monitor.run()).toBe("parked");
  before = queue.sam.calls().length;
  await ask();
  await service.queue.resume();
  const [first, second, third, ...others] = asked();
  // A vendor that the extract lacks is asked apart.
  expect([first, others]).toEqual([[uei], []]);
  expect(second!.slice(0, 40).toSorted()).toEqual(of(HOURLY));
  expect(second!.slice(40, 80).toSorted()).toEqual(of(Frequency.DAILY));
  expect(second!.slice(80).toSorted()).toEqual(oldest);
  expect([...second!.slice(80), ...third!].toSorted()).toEqual(of(Frequency.WEEKLY));
  expect(await monitor.result()).toBe("fail sam_gov_api not_found");
});

test("runs do not wait for the vendors that a new extract answers", async () => {
  for (const vendor of Array.from({ length: 250 }, newUei)) {
    await monitored(vendor, { frequency: Frequency.WEEKLY });
    extract(vendor, { registryCutDate: queue.daysAgo(1) });
  }
  queue.sam.register({ uei });
  queue.setFiles(uei, { exclusionsCutDate: queue.daysAgo(0), exclusionsLoad: "exclusions:1" });
  queue.sam.misbehave({ kind: "status", status: 503 }, { calls: 1 });
  const monitor = createTestMonitor({ uei }, { replicas: [service] });
  expect(await monitor.run()).toBe("parked");
  const waiting = { kind: "registered" as const };
  await queue.collections().questions.updateOne({ _id: `uei:${uei}` }, { $set: waiting });
  before = queue.sam.calls().length;
  const reads: number[] = [];
  service.entities.schedule.registry = async (vendors) => {
    if (asked().length === 0) reads.push(vendors);
  };
  await ask();
  service.entities.schedule.registry = undefined;
  expect(asked()).toEqual([[uei]]);
  expect(reads.reduce((sum, vendors) => sum + vendors, 0)).toBeLessThanOrEqual(100);
  const { watched } = watchCollections(service.databases.live);
  expect(await watched.countDocuments({ load: "registry:1" })).toBe(250);
});

test("nothing is asked without a configured quota, or where direct calls and runs have used it", async () => {
  await monitored();
  await ask();
  await providerCallsOf(owner.databases.live).updateOne(today(), { $set: { runs: 490 } });
  const next = await monitored(newUei());
  await ask();
  expect(await watchedOf(`uei:${uei}`)).toMatchObject({ as_of: queue.now() });
  expect(asked()).toHaveLength(1);
  await startWith(undefined);
  service.entities.put(next.organizationId, next.entityId, { subject: { legalName: "V", uei } });
  await ask();
  expect(asked()).toHaveLength(1);
});

test("an account of 10 calls keeps what is reserved and planned, and keeps as many vendors fresh as that allows", async () => {
  await startWith("10");
  const vendors = Array.from({ length: 45 }, newUei);
  for (const vendor of vendors) await monitored(vendor);
  const day = new Date("2026-11-22");
  await queue.collections().days.insertOne({ _id: "2026-11-22", day, planned_calls: 5 });
  await ask();
  expect(asked()).toEqual([]);
  queue.setTime("2026-11-22T23:00:00Z");
  await ask();
  expect(asked().map(({ length }) => length)).toEqual([30]);
  // Three pages. The plan keeps another call for ids without a registration.
  expect(await providerCallsOf(owner.databases.live).findOne(today())).toMatchObject({ direct: 0, first: 0, runs: 3 });
  queue.setTime("2026-11-23T00:00:00Z");
  for (const vendor of vendors) extract(vendor);
  await ask();
  expect(asked().map(({ length }) => length)).toEqual([30, 15]);
});

test("hourly vendors keep the calls that they need for the rest of the day, and daily ones get what is left", async () => {
  await startWith("100");
  // These need some 86 calls in a day, of 50.
  const hourly = Array.from({ length: 25 }, newUei);
  const daily = Array.from({ length: 30 }, newUei);
  for (const vendor of hourly) await monitored(vendor, { frequency: HOURLY });
  await service.queue.ask();
  await service.queue.storePlan();
  for (const vendor of daily) await monitored(vendor);
  before = queue.sam.calls().length;
  await ask();
  expect(asked()).toEqual([]);
  queue.passHours(1);
  for (const vendor of hourly) extract(vendor);
  await ask();
  expect(asked()).toEqual([[...hourly].sort()].map((each) => expect.arrayContaining(each)));
  queue.setTime("2026-11-22T23:50:00Z");
  await ask();
  expect(asked().at(-1)).toEqual(expect.arrayContaining([...hourly, ...daily]));
});

test("vendors that a withdrawn extract kept fresh are due again, and others are not", async () => {
  const cut = { registryCutDate: queue.daysAgo(2), registryLoad: "registry:2" };
  await monitored(uei, { frequency: Frequency.WEEKLY });
  const other = newUei();
  await monitored(other, { frequency: Frequency.WEEKLY });
  extract(uei, cut);
  await ask();
  expect(asked()).toEqual([[other]]);
  expect(await watchedOf(`uei:${uei}`)).toMatchObject({ as_of: new Date(cut.registryCutDate), load: "registry:2" });
  queue.passHours(1);
  extract(uei, { withdrawnLoads: ["registry:2"] });
  await ask();
  expect(asked()).toEqual([[other], [uei]]);
  const found = await watchedOf(`uei:${uei}`);
  expect(found!.as_of).toEqual(queue.now());
  expect(found).not.toHaveProperty("load");
});

test("vendors that only suspended organizations watch cost no calls until these go on", async () => {
  const suspended = new Set<string>();
  service = await queue.startReplica({ SAM_GOV_DAILY_QUOTA: "1000" }, { suspended: async () => [...suspended] });
  await queue.freeAsker();
  const [shared, other] = [newUei(), newUei()];
  for (const { organizationId } of [await monitored(), await monitored(shared)]) suspended.add(organizationId);
  await monitored(shared);
  await ask();
  await monitored(other);
  queue.setTime("2026-11-23T08:45:00Z");
  for (const vendor of [uei, shared, other]) extract(vendor);
  await ask();
  expect(asked().map((vendors) => vendors.toSorted())).toEqual([[shared], [shared, other].toSorted()]);
  suspended.clear();
  queue.passHours(24);
  for (const vendor of [uei, shared, other]) extract(vendor);
  await ask();
  expect(asked().at(-1)).toContain(uei);
});

describe("what SAM.gov or our own services can't answer", () => {
  test("a used-up quota is waited for", async () => {
    await monitored();
    const nextAccessTime = "2026-Nov-22 12:00:00+0000 UTC";
    queue.sam.misbehave({ kind: "throttled", shape: "flat", nextAccessTime }, { calls: 1 });
    await ask();
    await ask();
    expect(queue.sam.calls()).toHaveLength(before + 1);
    const states = service.databases.live.collection<{ _id: string }>("provider_state");
    await eventually(() => states.findOne({ _id: "sam_gov_api", shut: { $exists: true } }));
    queue.setTime("2026-11-22T12:00:01Z");
    await ask();
    expect((await watchedOf(`uei:${uei}`))!.as_of).toEqual(queue.now());
  });

  test("a vendor that SAM.gov refuses is put off for a day, and the others are answered", async () => {
    const refused = newUei();
    await monitored();
    await monitored(refused);
    queue.sam.misbehave({ kind: "status", status: 400 }, { about: refused });
    for (let round = 0; round < 4; round++) await ask();
    expect((await watchedOf(`uei:${uei}`))!.as_of).toEqual(queue.now());
    expect(await watchedOf(`uei:${refused}`)).toMatchObject({
      as_of: new Date(0),
      due_at: new Date(queue.now().getTime() + 24 * 3_600_000),
    });
  });

  test("a vendor whose calls keep failing is put off, longer each time, until it answers", async () => {
    await monitored();
    queue.sam.misbehave({ kind: "body", text: "{}" }, { calls: 1 });
    await ask();
    expect(await watchedOf(`uei:${uei}`)).toMatchObject({ failures: 1, due_at: new Date("2026-11-22T09:01:00Z") });
    queue.passHours(1);
    await ask();
    expect(await watchedOf(`uei:${uei}`)).toMatchObject({ failures: 0, as_of: queue.now(), kind: "registered" });
  });

  test("runs are answered while the loaded files can't be read", async () => {
    const parked = newUei();
    queue.sam.register({ uei: parked });
    queue.setFiles(parked, { exclusionsCutDate: queue.daysAgo(0), exclusionsLoad: "exclusions:1" });
    queue.sam.misbehave({ kind: "status", status: 503 }, { calls: 1 });
    expect(await createTestMonitor({ uei: parked }, { replicas: [service] }).run()).toBe("parked");
    await monitored();
    before = queue.sam.calls().length;
    service.entities.schedule.registry = async () => {
      throw new ServiceError("service_unavailable");
    };
    await ask();
    service.entities.schedule.registry = undefined;
    expect(asked()).toEqual([[parked]]);
    queue.passHours(1);
    await ask();
    expect(asked()).toEqual([[parked], [uei]]);
  });
});

test("a vendor that is known by its CAGE is asked by itself, and by its UEI once it has one", async () => {
  const cage = "1FRE2";
  const monitor = { monitorId: newId("mon"), organizationId: newId("org"), entityId: newId("ent") };
  queue.sam.register({ uei, cage });
  service.entities.put(monitor.organizationId, monitor.entityId, { subject: { legalName: "V", cage } });
  await note(monitor, Frequency.DAILY);
  await ask();
  expect(await watchedOf(`cage:${cage}`)).toMatchObject({ kind: "single", as_of: queue.now() });
  service.entities.put(monitor.organizationId, monitor.entityId, { subject: { legalName: "V", uei, cage } });
  queue.passHours(24);
  extract(uei);
  await ask();
  expect(await watchedOf(`cage:${cage}`)).toBeNull();
  expect(await watchedOf(`uei:${uei}`)).toMatchObject({ kind: "registered", as_of: queue.now() });
});

test("an index finds the vendors that are due without reading those that are not", async () => {
  const { watched } = watchCollections(service.databases.live);
  const later = new Date(queue.now().getTime() + 3_600_000);
  await watched.insertMany(
    Array.from({ length: 300 }, (_, index) => ({
      ...{
        _id: `uei:LATER${index}`,
        uei: `LATER${index}`,
        cage: "",
        kind: "registered" as const,
        failures: 0,
        writes: 1,
      },
      ...{ priority: (3 + (index % 4)) as 3 | 4 | 5 | 6, as_of: queue.now(), due_at: index < 8 ? queue.now() : later },
    })),
  );
  const due = { kind: "registered" as const, priority: { $in: [3, 4, 5, 6] as const }, due_at: { $lte: queue.now() } };
  const plan = await watched
    .find({ ...due, _id: { $nin: ["uei:OTHER"] } } as object)
    .sort({ priority: 1, due_at: 1 })
    .limit(100)
    .explain("executionStats");
  expect(JSON.stringify(plan.queryPlanner.winningPlan)).not.toContain('"SORT"');
  expect(plan.executionStats.totalKeysExamined).toBeLessThanOrEqual(16);
});

test("watched vendors are counted by an index, without their documents", async () => {
  const { watched } = watchCollections(service.databases.live);
  const plan = await watched
    .find({ priority: 4, as_of: { $gte: new Date(0), $lt: queue.now() } }, { projection: { _id: 0, as_of: 1 } })
    .explain("executionStats");
  expect(plan.executionStats.totalDocsExamined).toBe(0);
  expect(JSON.stringify(plan.queryPlanner.winningPlan)).toContain('"priority_1_as_of_1"');
});
