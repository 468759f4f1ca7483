import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { ServiceError } from "@vvs/errors";
import { newId } from "@vvs/ids";
import { CheckType } from "@vvs/proto/common/v1/common";
import { Decision, JobStatus, RowOutcome } from "@vvs/proto/verification/v1/jobs";
import { eventually } from "@vvs/testing";
import { ProviderError } from "../providers/provider.ts";
import { passing, testProvider } from "../testing/calls.ts";
import { jobsOf } from "../testing/jobs.ts";
import { startTestService } from "../testing/service.ts";

// Jobs while sources are slow or down, while organizations are suspended, and while calls come between the steps of their work.

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

let clockMs = 0;
const now = () => new Date(Date.now() + clockMs);
const suspended = new Set<string>();
const readSuspended = jest.fn(async () => [...suspended]);
/** Runs before a vendor is answered by SAM.gov's files, or about its TIN. */
let ask: (uei: string) => Promise<void> = async () => {};
let askTin = async () => {};
/** The vendors that were asked about. */
const asked: string[] = [];

const live = [
  testProvider("sam_gov_extract", "sam_registration", async ({ uei }) => {
    asked.push(uei);
    await ask(uei);
    return passing({ dataDate: now() });
  }),
  testProvider("tin_provider", "tin_match", async () => {
    await askTin();
    return passing({ dataDate: now() });
  }),
];

const service = await startTestService({
  live,
  now,
  suspended: readSuspended,
  circuit: { faultsInRow: 1_000, faultShare: 1.1 },
});
service.entities.schedule.resolve = (_identifiers, entityId) => entityId;
beforeEach(() => {
  clockMs = 0;
  asked.length = 0;
  suspended.clear();
  ask = async () => {};
  askTin = async () => {};
});

const uei = (number: number) => `VENDOR${String(number).padStart(6, "0")}`;
const down = async () => {
  throw new ProviderError("timeout");
};
const work = () => service.jobs.live.work();
/** Works on jobs at each step of some hours. */
async function pass(hours: number, stepMs = MINUTE_MS): Promise<void> {
  for (const endMs = clockMs + hours * HOUR_MS; clockMs < endMs; await work()) clockMs += stepMs;
}

/** A new organization with vendors 1 to 9. */
function organization(replica = service) {
  const organizationId = newId("org");
  for (let number = 1; number < 10; number++) {
    const subject = { legalName: `Vendor ${number}`, uei: uei(number) };
    replica.entities.put(organizationId, `ent_${number}`, { subject });
  }
  const ours = jobsOf(replica, organizationId);
  return {
    ...ours,
    organizationId,
    /** Starts a job about these vendors; one that is named again repeats its first row. */
    start(vendors: readonly number[], { checks = [CheckType.SAM_REGISTRATION], tins = [""] } = {}): Promise<string> {
      const rows = vendors.map((vendor, index) => {
        const first = vendors.indexOf(vendor);
        const sameAs = first < index ? first + 1 : 0;
        return { entityId: `ent_${vendor}`, identifiers: { tin: tins[index] ?? "" }, sameAs };
      });
      return ours.start(rows, { checks });
    },
  };
}

describe("a row that no source can answer", () => {
  test("is asked again with growing pauses for an hour, and passes once a source is back", async () => {
    ask = down;
    const ours = organization();
    const id = await ours.start([1, 2]);
    await work();
    await pass(1);
    expect(await ours.outcomes(id)).toEqual({ 1: "WAITING", 2: "WAITING" });
    expect(await ours.job(id)).toMatchObject({ status: JobStatus.RUNNING, done: 0, counts: { waiting: 2 } });
    // After 0, 1, 3, 7, 15 and 31 minutes.
    expect(asked).toHaveLength(2 * 6);
    ask = async () => {};
    await pass(1);
    expect(asked).toHaveLength(2 * 7);
    expect(await ours.job(id)).toMatchObject({ status: JobStatus.COMPLETED, done: 2, counts: { pass: 2 } });
  });

  test("is asked for a day, in which the time doesn't count that its organization is suspended", async () => {
    ask = down;
    const ours = organization();
    const id = await ours.start([1]);
    await work();
    await pass(1);
    suspended.add(ours.organizationId);
    const before = asked.length;
    await pass(1);
    clockMs += 48 * HOUR_MS;
    await work();
    expect(asked).toHaveLength(before);
    suspended.clear();
    await pass(22, HOUR_MS);
    expect(await ours.outcomes(id)).toEqual({ 1: "WAITING" });
    await pass(2, HOUR_MS);
    expect(await ours.results(id)).toMatchObject([
      {
        outcome: RowOutcome.ERROR,
        decision: Decision.REVIEW,
        verification: { results: [{ reason: "providers_failed" }] },
      },
    ]);
    expect(await ours.job(id)).toMatchObject({ status: JobStatus.COMPLETED, counts: { error: 1 } });
  }, 60_000);

  test("is asked when the job rested for two days before its first try failed", async () => {
    ask = down;
    const ours = organization();
    suspended.add(ours.organizationId);
    clockMs += MINUTE_MS;
    const id = await ours.start([1]);
    await work();
    expect(await ours.outcomes(id)).toEqual({});
    clockMs += 48 * HOUR_MS;
    suspended.clear();
    await work();
    expect(await ours.outcomes(id)).toEqual({ 1: "WAITING" });
    ask = async () => {};
    await pass(0.1);
    expect(await ours.outcomes(id)).toEqual({ 1: "PASS" });
  });
});

test("which organizations are suspended is asked only where a job is due", async () => {
  await work();
  readSuspended.mockClear();
  await pass(0.1);
  expect(readSuspended).not.toHaveBeenCalled();
  await organization().start([1]);
  await work();
  expect(readSuspended).toHaveBeenCalled();
});

test("no job of a suspended organization begins while a replica that has just started reads which ones are suspended", async () => {
  const gate = Promise.withResolvers<readonly string[]>();
  const replica = await startTestService({ live, now, suspended: () => gate.promise, prefix: service.prefix });
  const ours = organization(replica);
  await ours.start([1]);
  await ours.start([2], { checks: [CheckType.SAM_REGISTRATION, CheckType.TIN_MATCH], tins: ["123456780"] });
  const working = replica.jobs.live.work();
  // Time in which a worker that did not wait would have asked.
  for (let ping = 0; ping < 50; ping++) await replica.databases.live.command({ ping: 1 });
  gate.resolve([ours.organizationId]);
  await working;
  expect(asked).toEqual([]);
});

describe("a row whose vendor can't be resolved while entity is unavailable", () => {
  const resolve = (_identifiers: unknown, entityId: string) => {
    if (entityId === "ent_1") throw new ServiceError("service_unavailable");
    return entityId;
  };
  beforeEach(() => {
    service.entities.schedule.resolve = resolve;
  });
  afterEach(() => {
    service.entities.schedule.resolve = (_identifiers, entityId) => entityId;
  });

  test("waits, delays no other job, and goes on once entity is back", async () => {
    const [ours, others] = [organization(), organization()];
    const [id, otherId] = [await ours.start([1, 2]), await others.start([2])];
    await work();
    expect(await others.outcomes(otherId)).toEqual({ 1: "PASS" });
    expect(await ours.outcomes(id)).toEqual({ 1: "WAITING", 2: "PASS" });
    service.entities.schedule.resolve = (_identifiers, entityId) => entityId;
    await pass(0.1);
    expect(await ours.outcomes(id)).toEqual({ 1: "PASS", 2: "PASS" });
  });

  test("ends after a day", async () => {
    const ours = organization();
    const id = await ours.start([1]);
    await work();
    await pass(2);
    await pass(24, HOUR_MS);
    expect(await ours.outcomes(id)).toEqual({ 1: "ERROR" });
    expect(await ours.job(id)).toMatchObject({ status: JobStatus.COMPLETED });
  }, 60_000);
});

test("no job begins while nobody knows since the start who is suspended, for minutes", async () => {
  const down = () => Promise.reject(new ServiceError("service_unavailable"));
  const replica = await startTestService({ live, now, suspended: down, prefix: service.prefix });
  const ours = organization(replica);
  const id = await ours.start([1]);
  await expect(replica.jobs.live.work()).rejects.toMatchObject({ code: "service_unavailable" });
  expect(asked).toEqual([]);
  clockMs = 5 * MINUTE_MS;
  await replica.jobs.live.work();
  expect(await ours.outcomes(id)).toEqual({ 1: "PASS" });
});

test("a job that can't be worked on is tried again after seconds, and others are not delayed", async () => {
  service.entities.schedule.openTins = async () => {
    throw new ServiceError("service_unavailable");
  };
  const [ours, others] = [organization(), organization()];
  const id = await ours.start([1, 2], { tins: ["123456780"] });
  await work();
  const otherId = await others.start([1]);
  await work();
  expect(await others.outcomes(otherId)).toEqual({ 1: "PASS" });
  expect(await ours.outcomes(id)).toEqual({});
  delete service.entities.schedule.openTins;
  clockMs = 10_000;
  await work();
  expect(await ours.outcomes(id)).toEqual({ 1: "PASS", 2: "PASS" });
});

test("a row whose TIN can no longer be opened waits a day for its key, then ends in an error; the job's other rows go on", async () => {
  const ours = organization();
  const id = await ours.start([1, 2, 3], { tins: ["123456780", "123456789"] });
  const sealedBy = (key: string, rows: readonly number[]) =>
    service.databases.live
      .collection("job_rows")
      .updateMany({ job_id: id, row: { $in: [...rows] } }, { $set: { "input.tin.key_id": key } });
  await sealedBy("removed", [1, 2]);
  await work();
  expect(await ours.outcomes(id)).toEqual({ 1: "WAITING", 2: "WAITING", 3: "PASS" });
  await sealedBy(id, [1]);
  await pass(0.1);
  expect(await ours.outcomes(id)).toEqual({ 1: "PASS", 2: "WAITING", 3: "PASS" });
  await pass(2);
  await pass(24, HOUR_MS);
  expect(await ours.outcomes(id)).toEqual({ 1: "PASS", 2: "ERROR", 3: "PASS" });
  const problems = [{ path: "identifiers.tin", message: "can no longer be read. Send the row again." }];
  expect((await ours.results(id))[1]).toMatchObject({ decision: Decision.REVIEW, problems });
  expect(await ours.job(id)).toMatchObject({ status: JobStatus.COMPLETED });
}, 60_000);

test("a slow TIN provider delays no row without tin_match, of its organization or of others", async () => {
  const gate = Promise.withResolvers<void>();
  askTin = () => gate.promise;
  const [ours, others] = [organization(), organization()];
  const slow = await ours.start([1, 2], { checks: [CheckType.TIN_MATCH], tins: ["123456780", "123456789"] });
  const quick = await ours.start([3, 4]);
  const theirs = await others.start([1]);
  const working = work();
  await eventually(async () => (await ours.job(quick)).status === JobStatus.COMPLETED);
  await eventually(async () => (await others.job(theirs)).status === JobStatus.COMPLETED);
  expect(await ours.outcomes(slow)).toEqual({});
  gate.resolve();
  await working;
  expect(await ours.outcomes(slow)).toEqual({ 1: "PASS", 2: "PASS" });
});

test("a job is worked on while an earlier one of another organization waits for its slowest row", async () => {
  const gate = Promise.withResolvers<void>();
  ask = async (vendor) => {
    if (vendor === uei(1)) await gate.promise;
  };
  const stopping = new AbortController();
  const replica = await startTestService({ live, now, prefix: service.prefix, stopping: stopping.signal });
  const [first, second] = [organization(replica), organization(replica)];
  const slow = await first.start([1]);
  const running = replica.jobs.live.start();
  await eventually(() => asked.length);
  const quick = await second.start([2]);
  await eventually(async () => (await second.job(quick)).status === JobStatus.COMPLETED);
  expect((await first.job(slow)).done).toBe(0);
  gate.resolve();
  await eventually(async () => (await first.job(slow)).status === JobStatus.COMPLETED);
  stopping.abort();
  await running.ended();
});

describe("a job that is canceled while a row is in flight", () => {
  test("counts the repeats of rows that are done", async () => {
    const gate = Promise.withResolvers<void>();
    ask = async (vendor) => {
      if (vendor === uei(2)) await gate.promise;
    };
    const ours = organization();
    const id = await ours.start([1, 2, 1]);
    const working = work();
    await eventually(async () => (await ours.outcomes(id))[1]);
    const answered = await ours.cancel(id);
    gate.resolve();
    await working;
    expect(await ours.outcomes(id)).toEqual({ 1: "PASS", 3: "PASS" });
    expect(answered).toMatchObject({ status: JobStatus.CANCELED, done: 2 });
    expect(await ours.job(id)).toMatchObject({ status: JobStatus.CANCELED, done: 2 });
  });
});
