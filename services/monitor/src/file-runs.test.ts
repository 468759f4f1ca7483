import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import type { Check } from "@vvs/checks";
import { newId } from "@vvs/ids";
import { PoisonRecordError } from "@vvs/kafka";
import { CheckStatus, CheckType } from "@vvs/proto/common/v1/common";
import { LoadStep, type RegistryChanged, RegistryChangedSchema } from "@vvs/proto/events/v1/events";
import { registryDay } from "@vvs/registration";
import { recordTelemetry } from "@vvs/telemetry/testing";
import type { CallerContext } from "@vvs/tenant";
import {
  createTestDomain,
  FILE_RUN_SPREAD_MS,
  RUN_TIMEOUT_MS,
  SECOND,
  someCaller,
  someMonitor,
  type TestDomain,
} from "./testing/domain.ts";
import { completedRun } from "./testing/records.ts";

type RecordFields = Omit<Partial<RegistryChanged>, "$typeName">;

const { metric } = recordTelemetry();

let domain: TestDomain;
let caller: CallerContext;
beforeEach(async () => {
  domain = await createTestDomain({ environment: "live" });
  caller = someCaller("live");
});
afterEach(async () => {
  jest.restoreAllMocks();
  await domain.close();
});

const found = async (id: string) => (await domain.monitors.findOne({ _id: id }))!;

async function end(id: string, runSeq: number, expirationDate?: string, exclusionDays?: readonly string[]) {
  const { organization_id: organizationId } = await found(id);
  const parts = {
    ...(expirationDate !== undefined && { registration: { expirationDate } }),
    ...(exclusionDays && {
      exclusions: { exclusions: exclusionDays.map((activeDate) => ({ activeDate, effect: "bar" })) },
    }),
  };
  const checks = [{ checkType: CheckType.SAM_REGISTRATION, status: CheckStatus.PASS, parts }];
  const monitor = { tenant: { organizationId, environment: "live" }, id } as const;
  await domain.records.verificationCompleted(completedRun(monitor, { seq: runSeq, at: domain.clock.at, checks }));
}

/** A weekly monitor whose first run has ended a minute ago, and whose next one is due in more than an hour. */
async function newMonitor(options: { checks?: readonly Check[]; by?: CallerContext; entityId?: string } = {}) {
  const { checks = ["sam_registration"], by = caller, entityId = newId("ent") } = options;
  const { _id: id } = await domain.started(by, someMonitor({ frequency: "weekly", checks, entityId }));
  const due = new Date(domain.clock.at.getTime() + 3_600 * SECOND);
  await domain.monitors.updateOne({ _id: id }, { $set: { next_run_at: due, claimable_at: due } });
  await end(id, 1);
  domain.pass(60 * SECOND);
  return { id, entityId };
}

function changed(entityIds: string[], change: RecordFields = {}): RegistryChanged {
  return create(RegistryChangedSchema, {
    recordId: "record",
    loadId: "registry:1",
    entityIds,
    changedAt: timestampFromDate(domain.clock.at),
    ...change,
  });
}

/** Handles a record for a vendor now. */
const fileChanged = (entityId: string, change: RecordFields = {}) =>
  domain.records.registryChanged(changed([entityId], { urgentEntityIds: [entityId], ...change }));

describe("a file that changed a vendor", () => {
  test("gives its monitors a run within some minutes, and those of urgent vendors now; the schedule stays as it is", async () => {
    const [soon, urgent, other] = [await newMonitor(), await newMonitor(), await newMonitor()];
    const at = domain.clock.at.getTime();
    const before = await found(soon.id);
    await domain.records.registryChanged(
      changed([soon.entityId, urgent.entityId], { urgentEntityIds: [urgent.entityId] }),
    );
    const { file_run, claimable_at, ...rest } = await found(soon.id);
    expect(file_run).toMatchObject({ load_id: "registry:1", changed_at: new Date(at) });
    expect(file_run!.at!.getTime()).toBeGreaterThanOrEqual(at);
    expect(file_run!.at!.getTime()).toBeLessThan(at + FILE_RUN_SPREAD_MS);
    expect(claimable_at).toEqual(file_run!.at);
    expect({ ...rest, claimable_at: before.claimable_at }).toEqual(before);
    expect((await found(urgent.id)).file_run?.at).toEqual(new Date(at));
    expect((await found(other.id)).file_run).toBeUndefined();
    domain.pass(FILE_RUN_SPREAD_MS);
    expect(await domain.scheduler.claimDue()).toMatchObject({ due: 2, claimed: 2 });
    const after = await found(soon.id);
    expect([after.run_seq, after.file_run?.at, after.next_run_at, after.last_due_at]).toEqual([
      ...[2, undefined, before.next_run_at, before.last_due_at],
    ]);
    const lateness = (await metric("monitor_run_lateness"))!.dataPoints;
    expect(lateness.filter(({ attributes }) => attributes.cause === "file")).toHaveLength(1);
  });

  test("spreads the runs of many monitors evenly", async () => {
    const { id, entityId } = await newMonitor();
    const one = await found(id);
    await domain.monitors.insertMany(Array.from({ length: 1_000 }, () => ({ ...one, _id: newId("mon") })));
    const at = domain.clock.at.getTime();
    await domain.records.registryChanged(changed([entityId]));
    const half = new Date(at + FILE_RUN_SPREAD_MS / 2);
    const early = await domain.monitors.countDocuments({ "file_run.at": { $lt: half } });
    expect(early).toBeGreaterThan(400);
    expect(early).toBeLessThan(600);
  });

  test("starts a run of monitors of every organization, but only of active ones with sam_registration", async () => {
    const entityId = newId("ent");
    const [mine, theirs] = [await newMonitor({ entityId }), await newMonitor({ entityId, by: someCaller("live") })];
    const [tin, canceled] = [await newMonitor({ entityId, checks: ["tin_match"] }), await newMonitor({ entityId })];
    await domain.commands.cancel(caller, canceled.id);
    await fileChanged(entityId);
    const waiting = await domain.monitors.find({ "file_run.at": { $exists: true } }).toArray();
    expect(waiting.map(({ _id }) => _id).sort()).toEqual([mine.id, theirs.id].sort());
    expect((await found(tin.id)).claimable_at).toEqual((await found(tin.id)).next_run_at);
  });

  test("starts one run, however often its record comes", async () => {
    const { id, entityId } = await newMonitor();
    const record = changed([entityId], { urgentEntityIds: [entityId] });
    await domain.records.registryChanged(record);
    const first = await found(id);
    await domain.records.registryChanged(record);
    expect(await found(id)).toEqual(first);
    domain.pass(SECOND);
    await domain.scheduler.claimDue();
    const claimed = await found(id);
    await domain.records.registryChanged(record);
    expect(await found(id)).toEqual(claimed);
    expect(claimed.run_seq).toBe(2);
  });

  test("changes nothing after a newer file, whether its run is to come or was claimed", async () => {
    const [waiting, ran] = [await newMonitor(), await newMonitor()];
    const older = timestampFromDate(domain.clock.at);
    domain.pass(SECOND);
    await fileChanged(ran.entityId, { loadId: "registry:2" });
    await domain.scheduler.claimDue();
    await fileChanged(waiting.entityId, { loadId: "registry:2" });
    const before = [await found(waiting.id), await found(ran.id)];
    domain.pass(SECOND);
    for (const { entityId } of [waiting, ran]) await fileChanged(entityId, { changedAt: older });
    expect([await found(waiting.id), await found(ran.id)]).toEqual(before);
  });

  test.each([
    ["behind", -3_600 * SECOND],
    ["ahead of", 3_600 * SECOND],
  ])("starts one run where the clock of its database is %s this service's", async (_name, ms) => {
    const { id, entityId } = await newMonitor();
    const loadedAt = domain.clock.at.getTime() + ms;
    const runs: number[] = [];
    for (const load of [1, 1, 2, 1, 2]) {
      const changedAt = timestampFromDate(new Date(loadedAt + load));
      await fileChanged(entityId, { loadId: `registry:${load}`, changedAt });
      await domain.scheduler.claimDue();
      const { run_seq, open_run } = await found(id);
      if (open_run) await end(id, run_seq);
      runs.push(run_seq);
    }
    expect(runs).toEqual([2, 2, 3, 3, 3]);
  });

  test.each([
    ["behind", -3_600 * SECOND],
    ["ahead of", 3_600 * SECOND],
  ])("starts a run of its own beside an answer of SAM.gov by a clock that is %s its database's", async (_name, ms) => {
    const { id, entityId } = await newMonitor();
    const at = domain.clock.at.getTime();
    const times = { "registry:1": at, "answers:1": at + ms, "registry:2": at + 1, "answers:2": at + ms + 1 };
    const runs: number[] = [];
    for (const loadId of ["registry:1", "answers:1", "registry:2", "answers:1", "answers:2", "registry:2"] as const) {
      await fileChanged(entityId, { loadId, changedAt: timestampFromDate(new Date(times[loadId])) });
      await domain.scheduler.claimDue();
      const { run_seq, open_run } = await found(id);
      if (open_run) await end(id, run_seq);
      runs.push(run_seq);
    }
    expect(runs).toEqual([2, 3, 4, 4, 5, 5]);
  });

  test("starts no run by the record of a step of its load", async () => {
    const { id, entityId } = await newMonitor();
    const before = await found(id);
    // One of a version that this one does not know, too.
    for (const step of [LoadStep.LOADED, LoadStep.WITHDRAWAL_BEGUN, LoadStep.WITHDRAWN, 99 as LoadStep])
      await fileChanged(entityId, { step });
    expect(await found(id)).toEqual(before);
  });

  test("does not put off the first run of a new monitor", async () => {
    const entityId = newId("ent");
    const { value } = await domain.commands.create(caller, someMonitor({ entityId }));
    await domain.records.registryChanged(changed([entityId]));
    expect((await found(value._id)).claimable_at).toEqual(value.created_at);
    await domain.scheduler.claimDue();
    expect((await found(value._id)).run_seq).toBe(1);
  });

  test("does not put off the run that an earlier file asked for", async () => {
    const { id, entityId } = await newMonitor();
    await fileChanged(entityId);
    const { file_run } = await found(id);
    domain.pass(SECOND);
    await domain.records.registryChanged(changed([entityId], { loadId: "registry:2" }));
    expect((await found(id)).file_run).toEqual({
      load_id: "registry:2",
      changed_at: domain.clock.at,
      at: file_run!.at,
    });
  });

  test("starts its run once an open one has ended, or delays it no longer", async () => {
    const [ends, hangs] = [await newMonitor(), await newMonitor()];
    const open_run = { run_seq: 1, claimed_at: domain.clock.at };
    for (const { id } of [ends, hangs])
      await domain.monitors.updateOne({ _id: id }, { $set: { open_run }, $unset: { last_run: true } });
    await domain.runs.updateMany({}, { $unset: { ended_at: true } });
    domain.pass(SECOND);
    for (const { entityId } of [ends, hangs]) await fileChanged(entityId);
    expect((await domain.scheduler.claimDue()).claimed).toBe(0);
    await end(ends.id, 1);
    expect((await domain.scheduler.claimDue()).claimed).toBe(1);
    domain.pass(RUN_TIMEOUT_MS);
    await domain.scheduler.claimDue();
    expect([(await found(ends.id)).file_run?.at, (await found(hangs.id)).run_seq]).toEqual([undefined, 2]);
  });

  test("starts no run of a suspended organization until it goes on, and then one", async () => {
    const { id, entityId } = await newMonitor();
    const other = await newMonitor({ by: someCaller("live") });
    domain.suspended.add(caller.tenant.organizationId);
    for (const loadId of ["registry:1", "registry:2"]) {
      for (const vendor of [entityId, other.entityId]) await fileChanged(vendor, { loadId });
      await domain.scheduler.claimDue();
      expect((await domain.scheduler.claimDue()).due).toBe(0);
      domain.pass(3_600 * SECOND);
      expect(await domain.resumeExtras([...domain.suspended])).toBe(0);
    }
    expect([(await found(id)).run_seq, (await found(other.id)).run_seq > 1]).toEqual([1, true]);
    domain.suspended.clear();
    expect(await domain.resumeExtras([])).toBe(1);
    expect((await found(id)).claimable_at).toEqual(domain.clock.at);
    await domain.scheduler.claimDue();
    expect(await domain.resumeExtras([])).toBe(0);
    const after = await found(id);
    expect([after.run_seq, after.file_run?.load_id, after.file_run?.at]).toEqual([2, "registry:2", undefined]);
  });

  test("finds the monitors through an index, and costs nothing where none watches the vendor", async () => {
    await Promise.all(Array.from({ length: 20 }, () => newMonitor()));
    await domain.db.command({ profile: 2 });
    await domain.records.registryChanged(changed(Array.from({ length: 500 }, () => newId("ent"))));
    await domain.resumeExtras(["org_suspended"]);
    await domain.db.command({ profile: 0 });
    const updates = await domain.db.collection("system.profile").find({ op: "update" }).toArray();
    const costs = { docsExamined: 0, nModified: 0 };
    expect(updates).toMatchObject([
      { planSummary: "IXSCAN { entity_id: 1 }", ...costs },
      { planSummary: "IXSCAN { extras_wait: 1, organization_id: 1 }", ...costs },
    ]);
  });

  test.each<[string, RecordFields]>([
    ["no id of its own", { recordId: "" }],
    ["no load", { loadId: "" }],
    ["no entity", { entityIds: [] }],
    ["an empty entity", { entityIds: ["ent_1", ""] }],
    ["no time", { changedAt: undefined }],
  ])("is put aside if its record has %s", async (_name, change) => {
    const record = changed([newId("ent")], change);
    await expect(domain.records.registryChanged(record)).rejects.toThrow(PoisonRecordError);
  });
});

describe("a record of a file beside a claim of the same monitor", () => {
  /** A monitor that is due by its schedule, too. */
  async function dueMonitor() {
    const monitor = await newMonitor();
    const due = { next_run_at: domain.clock.at, claimable_at: domain.clock.at };
    await domain.monitors.updateOne({ _id: monitor.id }, { $set: due });
    return monitor;
  }

  test("that comes after the claim has read the monitor makes the claim begin again, after the file", async () => {
    const { id, entityId } = await dueMonitor();
    const { claimable } = domain.store;
    jest.spyOn(domain.store, "claimable").mockImplementationOnce(async (...args) => {
      const read = await claimable(...args);
      domain.pass(SECOND);
      await fileChanged(entityId);
      return read;
    });
    expect(await domain.scheduler.claimDue()).toMatchObject({ claimed: 0, lost: 1 });
    expect(await domain.scheduler.claimDue()).toMatchObject({ claimed: 1 });
    const after = await found(id);
    expect([after.run_seq, after.open_run?.claimed_at, after.file_run?.at]).toEqual([2, domain.clock.at, undefined]);
  });

  test("that comes while the claim is being written still starts its run afterwards", async () => {
    const { id, entityId } = await dueMonitor();
    const { replaceScheduled } = domain.store;
    let handled: Promise<void> | undefined;
    jest.spyOn(domain.store, "replaceScheduled").mockImplementationOnce(async (...args) => {
      const replaced = await replaceScheduled(...args);
      // Waits until the claim's transaction ends.
      domain.pass(SECOND);
      handled = fileChanged(entityId);
      return replaced;
    });
    const claimedAt = domain.clock.at;
    expect(await domain.scheduler.claimDue()).toMatchObject({ claimed: 1 });
    await handled;
    const after = await found(id);
    expect([after.open_run?.claimed_at, after.file_run?.changed_at]).toEqual([claimedAt, domain.clock.at]);
    await end(id, 2);
    expect(await domain.scheduler.claimDue()).toMatchObject({ claimed: 1 });
    expect((await found(id)).run_seq).toBe(3);
  });
});

test("the day after the expiration of a registration starts one extra run, and a renewal puts it off", async () => {
  const dayIn = (ms: number) => registryDay(new Date(domain.clock.at.getTime() + ms));
  const DAY = 24 * 3_600 * SECOND;
  const { id } = await newMonitor();
  const due = { next_run_at: domain.clock.at, claimable_at: domain.clock.at };
  await domain.monitors.updateOne({ _id: id }, { $set: due });
  await domain.scheduler.claimDue();
  await domain.monitors.updateOne({ _id: id }, { $set: { next_run_at: new Date("2099-01-01") } });
  await end(id, 2, dayIn(3 * DAY));
  const { expiry_run_at, next_run_at } = await found(id);
  expect(registryDay(expiry_run_at!)).toBe(dayIn(4 * DAY));
  domain.pass(expiry_run_at!.getTime() - domain.clock.at.getTime() - 1);
  expect((await domain.scheduler.claimDue()).claimed).toBe(0);
  domain.pass(1);
  expect((await domain.scheduler.claimDue()).claimed).toBe(1);
  await end(id, 3, dayIn(365 * DAY));
  expect((await domain.scheduler.claimDue()).claimed).toBe(0);
  const renewed = await found(id);
  expect([renewed.run_seq, renewed.next_run_at]).toEqual([3, next_run_at]);
  expect(registryDay(renewed.expiry_run_at!)).toBe(dayIn(366 * DAY));
});

test("an exclusion that is listed before its first day starts one extra run on that day, also beside a file's run", async () => {
  const dayIn = (ms: number) => registryDay(new Date(domain.clock.at.getTime() + ms));
  const DAY = 24 * 3_600 * SECOND;
  const { id, entityId } = await newMonitor();
  await fileChanged(entityId);
  await domain.scheduler.claimDue();
  await domain.monitors.updateOne({ _id: id }, { $set: { next_run_at: new Date("2099-01-01") } });
  await end(id, 2, "", [dayIn(-30 * DAY), dayIn(3 * DAY)]);
  const { exclusion_run_at } = await found(id);
  expect(registryDay(exclusion_run_at!)).toBe(dayIn(3 * DAY));
  // A further file has its own run, which leaves this one.
  domain.pass(SECOND);
  await domain.records.registryChanged(changed([entityId], { loadId: "registry:2" }));
  domain.pass(FILE_RUN_SPREAD_MS);
  expect((await domain.scheduler.claimDue()).claimed).toBe(1);
  expect((await found(id)).exclusion_run_at).toEqual(exclusion_run_at);
  await end(id, 3);
  domain.pass(exclusion_run_at!.getTime() - domain.clock.at.getTime() - 1);
  expect((await domain.scheduler.claimDue()).claimed).toBe(0);
  domain.pass(1);
  expect((await domain.scheduler.claimDue()).claimed).toBe(1);
  const lateness = (await metric("monitor_run_lateness"))!.dataPoints;
  expect(lateness.filter(({ attributes }) => attributes.cause === "exclusion")).toHaveLength(1);
  await end(id, 4, "", [dayIn(0)]);
  expect((await found(id)).exclusion_run_at).toBeUndefined();
  expect((await domain.scheduler.claimDue()).claimed).toBe(0);
});

test("extra runs that become due while an organization is suspended begin when it goes on, and keep their causes", async () => {
  const [{ id }, later] = [await newMonitor(), await newMonitor()];
  const day = (ms: number) => ({ exclusion_run_at: new Date(domain.clock.at.getTime() + ms) });
  const due = { ...day(SECOND), claimable_at: day(SECOND).exclusion_run_at };
  await domain.monitors.updateOne({ _id: id }, { $set: due });
  await domain.monitors.updateOne({ _id: later.id }, { $set: { ...due, expiry_run_at: new Date("2099-01-01") } });
  domain.suspended.add(caller.tenant.organizationId);
  domain.pass(60 * SECOND);
  expect(await domain.scheduler.claimDue()).toMatchObject({ claimed: 2 });
  expect(await domain.runs.countDocuments({ run_seq: 2 })).toBe(0);
  domain.suspended.clear();
  await domain.resumeExtras([]);
  const waited = await found(later.id);
  expect([waited.exclusion_run_at, waited.expiry_run_at]).toEqual([domain.clock.at, new Date("2099-01-01")]);
  expect([waited.first_run_at, waited.file_run, waited.extras_wait]).toEqual(Array(3).fill(undefined));
  expect(await domain.scheduler.claimDue()).toMatchObject({ claimed: 2 });
  expect(await domain.runs.countDocuments({ run_seq: 2, cause: "exclusion" })).toBe(2);
});

test("a canceled monitor has no run on the first day of an exclusion", async () => {
  const { id } = await newMonitor();
  await domain.monitors.updateOne({ _id: id }, { $set: { exclusion_run_at: domain.clock.at } });
  await domain.commands.cancel(caller, id);
  const { exclusion_run_at, claimable_at } = await found(id);
  expect([exclusion_run_at, claimable_at]).toEqual([undefined, undefined]);
});
