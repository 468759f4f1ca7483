import { beforeEach, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { Mode } from "@vvs/proto/verification/v1/verification";
import { randomOf } from "../bench/registry/random.ts";
import { startKeptStack } from "./stack.ts";

// Whatever leads to a verification, its evidence or its content still finds it when other things have aged out. The services
// are real, the years are a clock's.

const DAY_MS = 86_400_000;
let organizationId: string;

const stack = await startKeptStack();
beforeEach(() => {
  stack.forget();
  organizationId = newId("org");
});

const verificationIds = async () =>
  (await stack.stored.verifications.find({ organization_id: organizationId }).sort({ _id: 1 }).toArray()).map(
    ({ _id }) => _id,
  );
const eventsOf = (monitor_id: string) => stack.monitors.events.find({ monitor_id }).toArray();
const lastRunOf = async (id: string) => (await stack.monitors.monitors.findOne({ _id: id }))!.last_run!;

test("years later a last run, an event and a cached call find their evidence, and what nothing names is gone", async () => {
  const vendor = stack.vendor(organizationId);
  const { _id: monitorId } = await stack.monitor(vendor);
  for (let month = 0; month < 4; month++) {
    await stack.run();
    if (month === 1) vendor.played.legalName = "ACME RENAMED";
    stack.pass(31 * DAY_MS);
  }
  const [event, ...others] = await eventsOf(monitorId);
  expect(others).toEqual([]);
  const last = await lastRunOf(monitorId);
  const first = (await stack.stored.verifications.findOne({ run_record_id: `${monitorId}:1` }))!;
  expect(new Set([first._id, event!.verification_id, last.verification_id]).size).toBe(3);

  // No run for years, as of a standing monitor.
  for (let year = 1; year <= 6; year++) {
    stack.pass(365 * DAY_MS);
    await stack.age();
    expect(await stack.dangling()).toEqual([]);
  }
  expect(await verificationIds()).toEqual([first._id, event!.verification_id, last.verification_id]);
  const cached = await stack.verify(vendor, Mode.CACHED);
  const evidence = await stack.evidence(organizationId, cached.results[0]!.evidenceId);
  expect(evidence?.verificationId).toBe(last.verification_id);

  // The first run and the event have their seven years; the cached call has 400 days.
  stack.pass(2 * 365 * DAY_MS);
  await stack.age();
  await stack.age();
  expect(await stack.dangling()).toEqual([]);
  expect([await eventsOf(monitorId), await verificationIds()]).toEqual([[], [last.verification_id]]);
});

test("a job leads to the evidence of its rows, and its receipt proves it, until the job goes", async () => {
  const [one, other] = [stack.vendor(organizationId), stack.vendor(organizationId)];
  const jobId = await stack.job(one, other);
  const receipt = () => stack.jobReceipt(organizationId, jobId);
  const before = await receipt();
  expect(before.results).toMatchObject([{ evidence: [expect.any(String)] }, { evidence: [expect.any(String)] }]);
  stack.pass(29 * DAY_MS);
  await stack.age();
  expect(await receipt()).toEqual(before);
  expect(await stack.dangling()).toEqual([]);
  stack.pass(2 * DAY_MS);
  await stack.age();
  await expect(receipt()).rejects.toMatchObject({ code: "job_not_found" });
  expect(await stack.dangling()).toEqual([]);
});

test("replayed topics and dead letters that are put back make no event and no run again", async () => {
  const vendor = stack.vendor(organizationId);
  const { _id: monitorId } = await stack.monitor(vendor);
  await stack.run();
  vendor.played.legalName = "ACME RENAMED";
  stack.pass(31 * DAY_MS);
  await stack.run();
  stack.pass(31 * DAY_MS);
  await stack.run();
  const state = async () => ({
    events: await eventsOf(monitorId),
    last: await lastRunOf(monitorId),
    verifications: await verificationIds(),
  });
  const before = await state();
  expect(before.events).toHaveLength(1);
  // As long as topics keep records.
  stack.pass(7 * DAY_MS);
  await stack.age();
  await stack.replay("requested", "completed", "changed");
  expect(await state()).toEqual(before);
  // As long as dead letters are kept.
  stack.pass(23 * DAY_MS);
  await stack.age();
  await stack.replay("requested", "completed", "changed");
  expect(await state()).toEqual(before);
  expect(await stack.dangling()).toEqual([]);
});

test("a record of a run whose verification is gone makes no event, and what it makes goes again", async () => {
  const vendor = stack.vendor(organizationId);
  const { _id: monitorId } = await stack.monitor(vendor);
  for (const legalName of ["ACME", "ACME", "ACME RENAMED", "ACME RENAMED"]) {
    vendor.played.legalName = legalName;
    await stack.run();
    stack.pass(31 * DAY_MS);
  }
  stack.pass(365 * DAY_MS);
  await stack.age();
  const before = { events: await eventsOf(monitorId), last: await lastRunOf(monitorId), ids: await verificationIds() };
  expect([before.events.length, before.ids.length]).toEqual([1, 3]);
  vendor.played.legalName = "ACME RENAMED AGAIN";
  await stack.replay("requested");
  expect({ events: await eventsOf(monitorId), last: await lastRunOf(monitorId) }).toMatchObject({
    events: before.events,
    last: before.last,
  });
  expect(await verificationIds()).toHaveLength(4);
  expect(await stack.dangling()).toEqual([]);
  stack.pass(401 * DAY_MS);
  await stack.age();
  expect(await verificationIds()).toEqual(before.ids);
});

test.each([1, 2, 3])(
  "in random years of runs, calls and changes nothing that is named goes (seed %d)",
  async (seed) => {
    const { below, pick: some } = randomOf(seed, 0, 0);
    const vendors = [0, 1, 2].map((index) => stack.vendor(index === 0 ? organizationId : newId("org")));
    const active: { id: string; organizationId: string }[] = [];
    const steps: (() => unknown)[] = [
      () => stack.run(),
      async () => {
        stack.pass(below(60) * DAY_MS);
        await stack.run();
      },
      () => stack.pass(below(400) * DAY_MS),
      () => stack.verify(some(vendors), Mode.REALTIME),
      () => stack.job(some(vendors)),
      () => stack.verify(some(vendors), Mode.CACHED),
      () => stack.verify(some(vendors), Mode.CACHED),
      () => {
        some(vendors).played.legalName = `ACME ${below(5)}`;
      },
      () => {
        some(vendors).played.answers = some(["never", "now", "now", "earlier", "older"] as const);
      },
      async () => {
        const vendor = some(vendors);
        active.push({ id: (await stack.monitor(vendor))._id, organizationId: vendor.organizationId });
      },
      async () => {
        const [gone] = active.splice(below(8), 1);
        if (gone) await stack.cancel(gone);
      },
    ];
    for (let step = 0; step < 120; step++) {
      await some(steps)();
      if (step % 8 !== 7) continue;
      await stack.age();
      expect({ step, dangling: await stack.dangling() }).toEqual({ step, dangling: [] });
    }
  },
  300_000,
);
