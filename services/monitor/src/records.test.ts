import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { PoisonRecordError } from "@vvs/kafka";
import { CheckStatus, CheckType } from "@vvs/proto/common/v1/common";
import { CheckOutcomeSchema, WebhookRequestedSchema } from "@vvs/proto/events/v1/events";
import { callerIn, createTestDomain, SECOND, someCaller, someMonitor } from "./testing/domain.ts";
import { completedRun, detectedChange, type Monitored } from "./testing/records.ts";

const domain = await createTestDomain();

async function newMonitor() {
  const caller = someCaller();
  const { _id: id } = await domain.started(caller, someMonitor({ frequency: "hourly" }));
  return { tenant: caller.tenant, id };
}
const found = async ({ tenant, id }: Monitored) => (await domain.store.find(tenant, id))!;

const completed = (monitor: Monitored, seq: number, overallResult: CheckStatus) =>
  completedRun(monitor, { seq, at: domain.clock.at, overallResult });

function detected(monitor: Monitored, seq = 1, externalId = "") {
  const changes = [
    { field: "sam_registration.status", previous: "pass", current: "fail" },
    { field: "sam_registration.cage" },
  ];
  return detectedChange(monitor, { seq, at: domain.clock.at, externalId, changes });
}

/** Starts the next runs of monitors. */
async function startNext(): Promise<void> {
  domain.pass(600 * SECOND);
  await domain.scheduler.claimDue();
}
const deliveriesOf = async (id: string) =>
  (await domain.published("webhook.requested", WebhookRequestedSchema)).filter(({ run }) => run?.monitorId === id);
const eventsOf = async (id: string) => (await deliveriesOf(id)).filter(({ urlChanged }) => !urlChanged);

describe("a completed verification", () => {
  test("ends its run, and the next one can be claimed as soon as it is due", async () => {
    const monitor = await newMonitor();
    const record = completed(monitor, 1, CheckStatus.PASS);
    await domain.records.verificationCompleted(record);
    const after = await found(monitor);
    expect(after.last_run).toEqual({
      run_seq: 1,
      at: domain.clock.at,
      outcome: "pass",
      verification_id: record.verificationId,
    });
    expect([after.open_run, after.claimable_at]).toEqual([undefined, after.next_run_at]);
  });

  test("tells of which dates its data is: its own in the sandbox, else those of its sources, and none of an error", async () => {
    const day = new Date("2026-10-05T00:00:00.000Z");
    const datesOf = async (check: MessageInitShape<typeof CheckOutcomeSchema>) => {
      const monitor = await newMonitor();
      const record = completed(monitor, 1, CheckStatus.PASS);
      record.checks.push(create(CheckOutcomeSchema, { checkType: CheckType.SAM_REGISTRATION, ...check }));
      await domain.records.verificationCompleted(record);
      return (await found(monitor)).last_run?.data_as_of;
    };
    const now = domain.clock.at;
    expect(await datesOf({ status: CheckStatus.PASS })).toEqual({ registration: now, exclusions: now });
    const parts = { registration: { source: { date: timestampFromDate(day) } } };
    expect(await datesOf({ status: CheckStatus.FAIL, parts })).toEqual({ registration: day });
    expect(await datesOf({ status: CheckStatus.ERROR })).toBeUndefined();
  });

  test("without a UEI or CAGE marks the monitor as unwatched until sam_registration has an answer", async () => {
    const monitor = await newMonitor();
    const isUnwatched = async (seq: number, status: CheckStatus, reason = "") => {
      if (seq > 1) await startNext();
      const record = completed(monitor, seq, CheckStatus.FAIL);
      record.checks.push(
        create(CheckOutcomeSchema, { checkType: CheckType.SAM_REGISTRATION, status, reason }),
        create(CheckOutcomeSchema, { checkType: CheckType.TIN_MATCH, status: CheckStatus.FAIL, reason: "mismatch" }),
      );
      await domain.records.verificationCompleted(record);
      return (await found(monitor)).unwatched;
    };
    expect(await isUnwatched(1, CheckStatus.ERROR, "missing_uei")).toBe(true);
    expect(await isUnwatched(2, CheckStatus.ERROR, "providers_failed")).toBe(true);
    expect(await isUnwatched(3, CheckStatus.PASS)).toBeUndefined();
  });

  test("with the digest of the run before makes its monitor stand until a run is claimed, a change or a cancellation", async () => {
    const standing = async () => {
      const monitor = await newMonitor();
      for (const seq of [1, 2]) {
        if (seq > 1) await startNext();
        const record = completed(monitor, seq, CheckStatus.PASS);
        const check = {
          checkType: CheckType.SAM_REGISTRATION,
          status: CheckStatus.PASS,
          digest: Buffer.from("digest"),
        };
        record.checks.push(create(CheckOutcomeSchema, check));
        await domain.records.verificationCompleted(record);
      }
      expect((await found(monitor)).standing).toMatchObject({ run_seq: 2, since: domain.clock.at });
      return monitor;
    };
    const ends: ((monitor: Monitored) => Promise<unknown>)[] = [
      async ({ id }) => {
        // As an older version marks it: the next run is a real one.
        await domain.monitors.updateOne({ _id: id }, { $unset: { "standing.offset_ms": true } });
        await startNext();
      },
      ({ tenant, id }) => domain.commands.update(callerIn(tenant), id, { frequency: "daily" }),
      ({ tenant, id }) => domain.commands.cancel(callerIn(tenant), id),
    ];
    for (const end of ends) {
      const monitor = await standing();
      await end(monitor);
      expect(await found(monitor)).not.toHaveProperty("standing");
    }
  });

  test("that is delivered again has no effect", async () => {
    const monitor = await newMonitor();
    const record = completed(monitor, 1, CheckStatus.ERROR);
    await Promise.all([1, 2, 3].map(() => domain.records.verificationCompleted(record)));
    await domain.records.verificationCompleted(completed(monitor, 1, CheckStatus.PASS));
    expect((await found(monitor)).consecutive_errors).toBe(1);
  });

  test("of an older run does not overwrite the result of a newer one", async () => {
    const monitor = await newMonitor();
    await domain.records.verificationCompleted(completed(monitor, 1, CheckStatus.ERROR));
    for (let seq = 2; seq <= 3; seq++) {
      domain.pass(600 * SECOND);
      await domain.scheduler.claimDue();
    }
    await domain.records.verificationCompleted(completed(monitor, 3, CheckStatus.ERROR));
    const newest = await found(monitor);
    await domain.records.verificationCompleted(completed(monitor, 2, CheckStatus.PASS));
    expect([newest.consecutive_errors, newest.run_seq]).toEqual([2, 3]);
    expect(await found(monitor)).toEqual(newest);
    expect((await domain.runs.findOne({ _id: `${monitor.id}:2` }))?.outcome).toBe("pass");
  });

  test("of an API call changes no monitor", async () => {
    const record = { ...completed(await newMonitor(), 1, CheckStatus.PASS), run: undefined };
    await expect(domain.records.verificationCompleted(record)).resolves.toBeUndefined();
  });

  test.each([
    ["a run that was never claimed", (monitor: Monitored) => completed(monitor, 9, CheckStatus.PASS)],
    [
      "another organization's monitor",
      ({ id }: Monitored) => completed({ tenant: someCaller().tenant, id }, 1, CheckStatus.PASS),
    ],
    [
      "the other environment",
      ({ id }: Monitored) => completed({ tenant: someCaller("live").tenant, id }, 1, CheckStatus.PASS),
    ],
    ["no outcome", (monitor: Monitored) => completed(monitor, 1, CheckStatus.UNSPECIFIED)],
  ])("of %s is sent to the dead letters", async (_name, recordOf) => {
    const monitor = await newMonitor();
    await expect(domain.records.verificationCompleted(recordOf(monitor))).rejects.toBeInstanceOf(PoisonRecordError);
    expect((await found(monitor)).last_run).toBeUndefined();
  });
});

describe("a detected change", () => {
  test("is stored in the history, and its delivery to the current URL is requested", async () => {
    const monitor = await newMonitor();
    const webhookUrl = "https://example.com/new";
    await domain.commands.update(callerIn(monitor.tenant), monitor.id, { frequency: undefined, webhookUrl });
    const record = detected(monitor);
    await domain.records.changeDetected(record);
    const { items } = await domain.history.list(monitor.tenant, monitor.id, { limit: 10 } as never);
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
      { urlChanged: true, webhookUrl, urlVersion: 1n },
      { eventId: record.eventId, webhookUrl, urlVersion: 1n, run: { runSeq: 1n } },
    ]);
  });

  test("of a monitor without a URL is stored in the history, and no delivery is requested", async () => {
    const monitor = await newMonitor();
    await domain.commands.update(callerIn(monitor.tenant), monitor.id, { frequency: undefined, webhookUrl: null });
    await domain.records.changeDetected(detected(monitor));
    expect(await domain.events.countDocuments({ monitor_id: monitor.id })).toBe(1);
    expect(await eventsOf(monitor.id)).toEqual([]);
  });

  test.each([
    ["the monitor's number, if it has one", "M-1", "E-1", "M-1"],
    ["the entity's number, if the monitor has none", null, "E-1", "E-1"],
    ["the monitor's number, if the entity has none", "M-1", "", "M-1"],
    ["no number, if neither has one", null, "", undefined],
  ])("has %s, in the history and in its delivery, and keeps it", async (_name, own, entitys, expected) => {
    const monitor = await newMonitor();
    const change = (externalId: string | null) =>
      domain.commands.update(callerIn(monitor.tenant), monitor.id, { externalId });
    await change(own);
    const record = detected(monitor, 1, entitys);
    await domain.records.changeDetected(record);
    await change("LATER");
    await domain.records.changeDetected(record);
    const stored = await domain.events.find({ monitor_id: monitor.id }).toArray();
    expect(stored.map(({ external_id }) => external_id)).toEqual([expected]);
    expect((await eventsOf(monitor.id)).map(({ externalId }) => externalId)).toEqual([expected ?? ""]);
  });

  test("that is delivered again, even concurrently, is stored once", async () => {
    const monitor = await newMonitor();
    const record = detected(monitor);
    await Promise.allSettled([1, 2, 3, 4].map(() => domain.records.changeDetected(record)));
    await domain.records.changeDetected(record);
    await domain.records.changeDetected({ ...record, eventId: newId("evt") });
    expect(await domain.events.countDocuments({ monitor_id: monitor.id })).toBe(1);
    expect(await deliveriesOf(monitor.id)).toHaveLength(1);
    expect((await found(monitor)).event_count).toBe(1);
  });

  test("of a canceled monitor is neither stored nor delivered", async () => {
    const monitor = await newMonitor();
    await domain.commands.cancel(callerIn(monitor.tenant), monitor.id);
    await domain.records.changeDetected(detected(monitor));
    expect(await domain.events.countDocuments({ monitor_id: monitor.id })).toBe(0);
    expect(await deliveriesOf(monitor.id)).toEqual([]);
  });

  test("concurrent with a cancellation is either stored and delivered, or neither", async () => {
    for (let round = 0; round < 15; round++) {
      const monitor = await newMonitor();
      await Promise.all([
        domain.records.changeDetected(detected(monitor)),
        domain.commands.cancel(callerIn(monitor.tenant), monitor.id),
      ]);
      const events = await domain.events.countDocuments({ monitor_id: monitor.id });
      const after = await found(monitor);
      expect([after.status, after.event_count, (await deliveriesOf(monitor.id)).length]).toEqual([
        "canceled",
        events,
        events,
      ]);
      await domain.records.changeDetected(detected(monitor, 1));
      expect(await domain.events.countDocuments({ monitor_id: monitor.id })).toBe(events);
    }
  });

  test("of a monitor that does not exist is sent to the dead letters", async () => {
    const record = detected({ tenant: someCaller().tenant, id: newId("mon") });
    await expect(domain.records.changeDetected(record)).rejects.toBeInstanceOf(PoisonRecordError);
  });

  test("is only visible to its own organization, also in the list of all events", async () => {
    const monitor = await newMonitor();
    const record = detected(monitor);
    await domain.records.changeDetected(record);
    const own = await domain.history.list(monitor.tenant, undefined, { limit: 10 } as never);
    const foreign = await domain.history.list(someCaller().tenant, undefined, { limit: 10 } as never);
    expect([own.items.map(({ _id }) => _id), foreign.items]).toEqual([[record.eventId], []]);
  });
});
