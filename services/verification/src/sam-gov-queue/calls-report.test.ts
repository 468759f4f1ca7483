import { expect, test } from "@jest/globals";
import { Frequency } from "@vvs/proto/monitor/v1/monitor";
import { eventually } from "@vvs/testing";
import { providerCallsOf } from "../provider-health/provider-calls-store.ts";
import { watchCollections } from "../questions/watch-documents.ts";
import { type FreshPriority, freshPriorities } from "../questions/watch-frequency.ts";
import { createTestMonitor, startPlayedQueue } from "../testing/played-queue.ts";

const queue = await startPlayedQueue("2026-11-22T09:00:00Z");
const service = await queue.startReplica({ SAM_GOV_DAILY_QUOTA: "1000" }, { queue: { gatherMs: 3_600_000 } });

/** Reads the report as the dashboard. */
const read = (from = service) => from.clientFor("dashboard").getSamGovCalls({});

test("only the dashboard reads it", async () => {
  await expect(service.client.getSamGovCalls({})).rejects.toMatchObject({ code: "forbidden" });
});

test("a call is counted for its class, and what is left for each class leaves the others' reserves", async () => {
  const uei = "REPORTED0001";
  queue.sam.register({ uei });
  queue.setFiles(uei, { exclusionsCutDate: queue.daysAgo(0), exclusionsLoad: "exclusions:1" });
  expect(await createTestMonitor({ uei }, { replicas: [service] }).run()).toBe("pass sam_gov_api");
  const { quota, days, freshness } = await read();
  expect(freshness).toBeUndefined();
  expect(quota).toMatchObject({
    daily: 1_000,
    reserved: { direct: 300, first: 0, runs: 500 },
    left: { direct: 499, first: 199, runs: 699 },
    mostForRuns: 700,
  });
  expect(days[0]).toMatchObject({ day: "2026-11-22", calls: { direct: 0, first: 1, runs: 0 } });
});

test("a run that waits is shown, and the plan for tomorrow is kept for that day", async () => {
  const uei = "REPORTED0002";
  queue.sam.misbehave({ kind: "status", status: 503 }, { calls: 1 });
  queue.setFiles(uei, { registryCutDate: "2026-11-01", registryLoad: "registry:1" });
  expect(await createTestMonitor({ uei }, { replicas: [service] }).run()).toBe("parked");
  const { queue: waiting } = await read();
  expect(waiting).toMatchObject({ waitingRuns: 1, readyRuns: 0, questions: 1 });
  expect(Number(waiting!.oldestAt!.seconds) * 1_000).toBe(queue.now().getTime());
  expect(waiting!.plannedTomorrow).toBeGreaterThan(0);
  const running = service.queue.start();
  try {
    await eventually(() => queue.collections().days.findOne({ _id: "2026-11-23" }));
  } finally {
    await running.stop();
  }
  expect((await read()).days[0]!.planned).toBeUndefined();
  queue.setTime("2026-11-23T00:00:00Z");
  expect((await read()).days[0]).toMatchObject({ day: "2026-11-23", planned: waiting!.plannedTomorrow });
});

test("30 days are shown, each with the calls of all keys of SAM.gov in the live environment", async () => {
  queue.setTime("2027-03-10T12:00:00Z");
  const { live, sandbox } = service.databases;
  const calls = (provider: string, key: string, date: string, number: number) => ({
    _id: `${provider}:${key}:${date}`,
    provider,
    day: new Date(`${date}T00:00:00Z`),
    ...{ direct: number, first: 2 * number, runs: 3 * number },
  });
  await providerCallsOf(live).insertMany([
    calls("sam_gov_api", "old", "2027-03-10", 1),
    calls("sam_gov_api", "new", "2027-03-10", 10),
    calls("other", "key", "2027-03-10", 100),
    calls("sam_gov_api", "old", "2027-02-09", 5),
    calls("sam_gov_api", "old", "2027-02-08", 7),
  ]);
  await providerCallsOf(sandbox).insertOne(calls("sam_gov_api", "old", "2027-03-10", 1_000));
  await queue.collections().days.insertMany([
    { _id: "2027-03-10", day: new Date("2027-03-10"), planned_calls: 12, vendors_asked: 95 },
    { _id: "2027-03-11", day: new Date("2027-03-11"), planned_calls: 13 },
  ]);
  const { days } = await read();
  expect(days).toHaveLength(30);
  const today = { calls: { direct: 11, first: 22, runs: 33 }, planned: 12, vendorsAsked: 95 };
  expect(days[0]).toMatchObject({ day: "2027-03-10", ...today });
  expect(days[1]).toMatchObject({ day: "2027-03-09", calls: { direct: 0, first: 0, runs: 0 }, vendorsAsked: 0 });
  expect(days[1]!.planned).toBeUndefined();
  expect(days[29]).toMatchObject({ day: "2027-02-09", calls: { direct: 5, first: 10, runs: 15 } });
});

test("without a configured quota there is none to show, but what waits is", async () => {
  const { quota, days, queue: waiting } = await read(await queue.startReplica());
  expect(quota).toBeUndefined();
  expect(days).toHaveLength(30);
  expect(waiting).toMatchObject({ waitingRuns: 1 });
});

test("watched vendors are counted by the age of their data every ten minutes, and quotas are compared", async () => {
  const replica = await queue.startReplica({ SAM_GOV_DAILY_QUOTA: "1000" });
  const { watched } = watchCollections(replica.databases.live);
  const hoursAgo = (hours: number) => new Date(queue.now().getTime() - hours * 3_600_000);
  const vendor = (priority: FreshPriority, as_of: Date, index: number) => ({
    ...{ _id: `uei:${priority}-${index}`, uei: "U", cage: "", kind: "registered" as const, priority, as_of },
    ...{ due_at: new Date("2030-01-01"), failures: 0, writes: 1 },
  });
  const { hourly, daily, weekly, monthly } = freshPriorities;
  const unknown = new Date(0);
  await watched.insertMany([
    ...[hoursAgo(1), hoursAgo(1.01)].map((asOf, index) => vendor(hourly, asOf, index)),
    ...[hoursAgo(0), hoursAgo(24), hoursAgo(25), hoursAgo(24 * 7), unknown].map((asOf, index) =>
      vendor(daily, asOf, index),
    ),
    ...Array.from({ length: 5_000 }, (_, index) => vendor(weekly, hoursAgo(24 * 7.1), index)),
    vendor(monthly, hoursAgo(24 * 31), 0),
  ]);
  await replica.queue.ask();
  await replica.queue.storePlan();
  const countedAt = queue.now();
  const { freshness, queue: waiting } = await read();
  expect(Number(freshness!.countedAt!.seconds) * 1_000).toBe(countedAt.getTime());
  expect(freshness!.watched).toMatchObject([
    { frequency: Frequency.HOURLY, vendors: 2, hourOld: 1, dayOld: 2, weekOld: 2, monthOld: 2 },
    { frequency: Frequency.DAILY, vendors: 5, hourOld: 1, dayOld: 2, weekOld: 4, monthOld: 4 },
    { frequency: Frequency.WEEKLY, vendors: 5_000, hourOld: 0, dayOld: 0, weekOld: 0, monthOld: 5_000 },
    { frequency: Frequency.MONTHLY, vendors: 1, hourOld: 0, dayOld: 0, weekOld: 0, monthOld: 0 },
  ]);
  expect(freshness!.quotas).toMatchObject([
    { daily: 1_000, fresh: 5_008 },
    { daily: 10_000, fresh: 5_008 },
  ]);
  expect(freshness!.dailyForAll).toBe(2 * (waiting!.plannedTomorrow + 94));
  // Nothing is counted again for the page.
  queue.passHours(0.1);
  await watched.deleteMany({});
  await replica.queue.storePlan();
  expect((await read()).freshness!.watched[2]!.vendors).toBe(5_000);
  queue.passHours(0.1);
  await replica.queue.storePlan();
  expect((await read()).freshness!.watched[2]!.vendors).toBe(0);
});
