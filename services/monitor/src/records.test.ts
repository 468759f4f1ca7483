import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { PoisonRecordError } from "@vvs/kafka";
import { CheckStatus } from "@vvs/proto/common/v1/common";
import { ChangeDetectedSchema, VerificationCompletedSchema, WebhookRequestedSchema } from "@vvs/proto/events/v1/events";
import { type Tenant, toProtoTenant } from "@vvs/tenant";
import { createTestWorld, SECOND, someCaller, someMonitor, type TestWorld } from "./test-world.ts";

let world: TestWorld;
beforeAll(async () => {
  world = await createTestWorld({ uri: process.env.MONGODB_URI! });
});
afterAll(() => world.close());

async function newMonitor() {
  const caller = someCaller();
  const { value } = await world.life.create(caller, someMonitor({ frequency: "hourly" }));
  return { tenant: caller.tenant, id: value._id };
}
const found = async ({ tenant, id }: { tenant: Tenant; id: string }) => (await world.store.find(tenant, id))!;

function completed(
  { tenant, id }: { tenant: Tenant; id: string },
  seq: number,
  outcome: CheckStatus,
  verificationId = newId("ver"),
) {
  return create(VerificationCompletedSchema, {
    verificationId,
    tenant: toProtoTenant(tenant),
    run: { monitorId: id, runSeq: BigInt(seq) },
    overallResult: outcome,
    createdAt: timestampFromDate(world.clock.at),
  });
}

function detected({ tenant, id }: { tenant: Tenant; id: string }, seq = 1, verificationId = newId("ver")) {
  return create(ChangeDetectedSchema, {
    eventId: newId("evt"),
    tenant: toProtoTenant(tenant),
    run: { monitorId: id, runSeq: BigInt(seq) },
    entityId: newId("ent"),
    verificationId,
    changes: [
      { field: "sam_registration.status", previous: "pass", current: "fail" },
      { field: "sam_registration.cage" },
    ],
    detectedAt: timestampFromDate(world.clock.at),
  });
}
const deliveriesOf = async (id: string) =>
  (await world.published("webhook.requested", WebhookRequestedSchema)).filter(({ run }) => run?.monitorId === id);

describe("a completed verification", () => {
  test("ends its run, and the next one can be claimed as soon as it is due", async () => {
    const monitor = await newMonitor();
    const record = completed(monitor, 1, CheckStatus.PASS);
    await world.records.verificationCompleted(record);
    const after = await found(monitor);
    expect(after.last_run).toEqual({
      run_seq: 1,
      at: world.clock.at,
      outcome: "pass",
      verification_id: record.verificationId,
    });
    expect([after.open_run, after.claimable_at]).toEqual([undefined, after.next_run_at]);
  });

  test("that comes again has no effect", async () => {
    const monitor = await newMonitor();
    const record = completed(monitor, 1, CheckStatus.ERROR);
    await Promise.all([1, 2, 3].map(() => world.records.verificationCompleted(record)));
    await world.records.verificationCompleted(completed(monitor, 1, CheckStatus.PASS));
    expect((await found(monitor)).consecutive_errors).toBe(1);
  });

  test("of an older run changes nothing that a newer one has told", async () => {
    const monitor = await newMonitor();
    await world.records.verificationCompleted(completed(monitor, 1, CheckStatus.ERROR));
    for (let seq = 2; seq <= 3; seq++) {
      world.pass(600 * SECOND);
      await world.scheduler.claimDue();
    }
    await world.records.verificationCompleted(completed(monitor, 3, CheckStatus.ERROR));
    const newest = await found(monitor);
    await world.records.verificationCompleted(completed(monitor, 2, CheckStatus.PASS));
    expect([newest.consecutive_errors, newest.run_seq]).toEqual([2, 3]);
    expect(await found(monitor)).toEqual(newest);
    expect((await world.runs.findOne({ _id: `${monitor.id}:2` }))?.outcome).toBe("pass");
  });

  test("of an API call is nothing to a monitor", async () => {
    const record = { ...completed(await newMonitor(), 1, CheckStatus.PASS), run: undefined };
    await expect(world.records.verificationCompleted(record)).resolves.toBeUndefined();
  });

  test.each([
    [
      "a run that was never claimed",
      (monitor: { tenant: Tenant; id: string }) => completed(monitor, 9, CheckStatus.PASS),
    ],
    [
      "another organization's monitor",
      ({ id }: { id: string }) => completed({ tenant: someCaller().tenant, id }, 1, CheckStatus.PASS),
    ],
    [
      "the other environment",
      ({ id }: { id: string }) => completed({ tenant: someCaller("live").tenant, id }, 1, CheckStatus.PASS),
    ],
    ["no outcome", (monitor: { tenant: Tenant; id: string }) => completed(monitor, 1, CheckStatus.UNSPECIFIED)],
  ])("of %s is put aside", async (_name, recordOf) => {
    const monitor = await newMonitor();
    await expect(world.records.verificationCompleted(recordOf(monitor))).rejects.toBeInstanceOf(PoisonRecordError);
    expect((await found(monitor)).last_run).toBeUndefined();
  });
});

describe("a detected change", () => {
  test("is in the history, and asks for its delivery to the URL of now", async () => {
    const monitor = await newMonitor();
    const webhookUrl = "https://example.com/new";
    await world.life.update(monitor.tenant, monitor.id, { frequency: undefined, webhookUrl });
    const record = detected(monitor);
    await world.records.changeDetected(record);
    const { items } = await world.history.list(monitor.tenant, monitor.id, { limit: 10 } as never);
    expect(items).toMatchObject([
      {
        _id: record.eventId,
        verification_id: record.verificationId,
        changes: [
          { field: "sam_registration.status", previous: "pass", current: "fail" },
          { field: "sam_registration.cage", previous: null, current: null },
        ],
      },
    ]);
    expect(await deliveriesOf(monitor.id)).toMatchObject([
      { eventId: record.eventId, webhookUrl, run: { runSeq: 1n } },
    ]);
  });

  test("that comes again, even at the same time, is there once", async () => {
    const monitor = await newMonitor();
    const record = detected(monitor);
    await Promise.allSettled([1, 2, 3, 4].map(() => world.records.changeDetected(record)));
    await world.records.changeDetected(record);
    await world.records.changeDetected({ ...record, eventId: newId("evt") });
    expect(await world.events.countDocuments({ monitor_id: monitor.id })).toBe(1);
    expect(await deliveriesOf(monitor.id)).toHaveLength(1);
    expect((await found(monitor)).event_count).toBe(1);
  });

  test("of a canceled monitor is told to nobody", async () => {
    const monitor = await newMonitor();
    await world.life.cancel(monitor.tenant, monitor.id);
    await world.records.changeDetected(detected(monitor));
    expect(await world.events.countDocuments({ monitor_id: monitor.id })).toBe(0);
    expect(await deliveriesOf(monitor.id)).toEqual([]);
  });

  test("at the time of a cancellation is wholly in the history, or wholly nowhere", async () => {
    for (let round = 0; round < 15; round++) {
      const monitor = await newMonitor();
      await Promise.all([
        world.records.changeDetected(detected(monitor)),
        world.life.cancel(monitor.tenant, monitor.id),
      ]);
      const events = await world.events.countDocuments({ monitor_id: monitor.id });
      const after = await found(monitor);
      expect([after.status, after.event_count, (await deliveriesOf(monitor.id)).length]).toEqual([
        "canceled",
        events,
        events,
      ]);
      await world.records.changeDetected(detected(monitor, 1));
      expect(await world.events.countDocuments({ monitor_id: monitor.id })).toBe(events);
    }
  });

  test("of a monitor that never was is put aside", async () => {
    const record = detected({ tenant: someCaller().tenant, id: newId("mon") });
    await expect(world.records.changeDetected(record)).rejects.toBeInstanceOf(PoisonRecordError);
  });

  test("is seen by its own organization alone, also in the list of all its events", async () => {
    const monitor = await newMonitor();
    const record = detected(monitor);
    await world.records.changeDetected(record);
    const own = await world.history.list(monitor.tenant, undefined, { limit: 10 } as never);
    const strange = await world.history.list(someCaller().tenant, undefined, { limit: 10 } as never);
    expect([own.items.map(({ _id }) => _id), strange.items]).toEqual([[record.eventId], []]);
  });
});
