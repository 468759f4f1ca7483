import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { VerificationService } from "@vvs/proto/verification/v1/verification";
import { createClient } from "@vvs/rpc";
import { eventually } from "@vvs/testing";
import { providerCallsOf } from "../provider-health/provider-calls-store.ts";
import { createTestMonitor, type PlayedQueue, startPlayedQueue } from "../testing/played-queue.ts";
import type { TestService } from "../testing/service.ts";

let queue: PlayedQueue;
let service: TestService;
const clients: { close(): void }[] = [];

beforeAll(async () => {
  queue = await startPlayedQueue("2026-11-22T09:00:00Z");
  service = await queue.startReplica({ SAM_GOV_DAILY_QUOTA: "1000" }, { queue: { gatherMs: 3_600_000 } });
});
afterAll(async () => {
  for (const client of clients) client.close();
  await queue.stop();
});

/** Reads the report as the dashboard. */
function read(from = service) {
  const client = createClient(VerificationService, {
    address: `127.0.0.1:${from.port}`,
    caller: "dashboard",
    tls: undefined,
  });
  clients.push(client);
  return client.getSamGovCalls({});
}

test("only the dashboard reads it", async () => {
  await expect(service.client.getSamGovCalls({})).rejects.toMatchObject({ code: "forbidden" });
});

test("a call is counted for its class, and what is left for each class leaves the others' reserves", async () => {
  const uei = "REPORTED0001";
  queue.sam.register({ uei });
  queue.setFiles(uei, { exclusionsCutDate: queue.daysAgo(0), exclusionsLoad: "exclusions:1" });
  expect(await createTestMonitor({ uei }, { replicas: [service] }).run()).toBe("pass sam_gov_api");
  const { quota, days } = await read();
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
