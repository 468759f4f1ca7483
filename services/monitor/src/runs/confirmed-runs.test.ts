import { expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import type { CallerContext } from "@vvs/tenant";
import type { MonitorDocument } from "../model/monitor.ts";
import { createTestDomain, HOUR, someCaller, someMonitor } from "../testing/domain.ts";
import { createListConfirmedRuns } from "./confirmed-runs.ts";

const domain = await createTestDomain({ environment: "live" });
const confirmedRuns = createListConfirmedRuns({ db: domain.db, readPositions: domain.positions.readAll });

const hoursAgo = (hours: number) => new Date(domain.clock.at.getTime() - hours * HOUR);
const lastRun = (hours: number, more: object = {}) => ({
  last_run: { run_seq: 0, at: hoursAgo(hours), outcome: "pass", verification_id: newId("ver"), ...more },
});

/** Stores a monitor, with changes to its document. */
async function stored(caller: CallerContext, entityId: string, change: object, more: object = {}): Promise<string> {
  const { value } = await domain.commands.create(caller, someMonitor({ entityId, ...more }));
  await domain.monitors.updateOne({ _id: value._id }, { $set: change as Partial<MonitorDocument> });
  return value._id;
}

/** An hourly monitor that stands since its run 30 hours ago, and whose checks were made up to an hour ago, or confirmed earlier. */
async function standing(caller: CallerContext, entityId: string, { confirmedTo = hoursAgo(1) } = {}): Promise<string> {
  const next_run_at = hoursAgo(29);
  const offset_ms = next_run_at.getTime() % HOUR;
  const monitorId = await stored(
    caller,
    entityId,
    { ...lastRun(30), next_run_at, standing: { run_seq: 0, since: hoursAgo(30), offset_ms } },
    { frequency: "hourly" },
  );
  const position = { swept_to: hoursAgo(1), confirmed_to: confirmedTo, skipped: [], data: [] };
  await domain.positions.start("hourly", hoursAgo(40));
  await domain.db.collection("sweep_positions").replaceOne({}, position);
  return monitorId;
}

test("the runs of some entities' monitors say how scheduled checks confirmed them, to no other organization", async () => {
  const [caller, entityId] = [someCaller("live"), newId("ent")];
  const monitorId = await standing(caller, entityId);
  await stored(caller, entityId, lastRun(5)); // confirmed by nothing
  await stored(caller, entityId, lastRun(5), { checks: ["sam_registration", "tin_match"] });
  await stored(caller, newId("ent"), lastRun(5, { confirmed: { times: 1, last_at: hoursAgo(4) } }));
  const found = await confirmedRuns(caller.tenant, [entityId], undefined);
  expect(found).toMatchObject([
    {
      monitor: { _id: monitorId, entity_id: entityId },
      run: { outcome: "pass", ended_at: hoursAgo(30) },
      confirmed: { times: 29, last_at: hoursAgo(1) },
    },
  ]);
  expect(found[0]!.staleSince).toBeUndefined();
  expect(await confirmedRuns(someCaller("live").tenant, [entityId], undefined)).toEqual([]);
});

test("those before a time are the ones that were confirmed before the runs since", async () => {
  const [caller, entityId] = [someCaller("live"), newId("ent")];
  const monitorId = await stored(caller, entityId, lastRun(2));
  const run = (run_seq: number, hours: number) => ({
    ...{
      _id: `${monitorId}:${run_seq}`,
      organization_id: caller.tenant.organizationId,
      monitor_id: monitorId,
      run_seq,
    },
    ...{ claimed_at: hoursAgo(hours), ended_at: hoursAgo(hours), outcome: "fail" as const },
    ...{ verification_id: `ver_${run_seq}`, confirmed: { times: 2, last_at: hoursAgo(hours - 3) } },
  });
  await domain.runs.insertMany([run(1, 20), run(2, 10), run(3, 2)]);
  const before = async (hours: number) =>
    (await confirmedRuns(caller.tenant, [entityId], hoursAgo(hours))).map(({ run }) => run.verification_id);
  expect(await before(2)).toEqual(["ver_2"]);
  expect(await before(10)).toEqual(["ver_1"]);
  expect(await before(20)).toEqual([]);
});

test("one that overdue data left unconfirmed says since when", async () => {
  const [caller, entityId] = [someCaller("live"), newId("ent")];
  await standing(caller, entityId, { confirmedTo: hoursAgo(35) });
  expect(await confirmedRuns(caller.tenant, [entityId], undefined)).toMatchObject([
    { confirmed: undefined, staleSince: hoursAgo(29) },
  ]);
});

test("very many monitors of a vendor do not hide those of others, nor canceled ones the active one", async () => {
  const caller = someCaller("live");
  const entityIds = Array.from({ length: 100 }, () => newId("ent")).toSorted();
  const [crowded, other] = [entityIds[0]!, entityIds.at(-1)!];
  const unconfirmed = (await domain.monitors.findOne({ _id: await stored(caller, crowded, lastRun(5)) }))!;
  const monitorId = await standing(caller, other);
  const canceled = {
    entity_id: other,
    status: "canceled",
    created_at: new Date(domain.clock.at.getTime() + 1),
  } as const;
  await domain.monitors.insertMany([
    ...Array.from({ length: 1_100 }, () => ({ ...unconfirmed, _id: newId("mon") })),
    ...Array.from({ length: 20 }, () => ({ ...unconfirmed, ...canceled, _id: newId("mon") })),
  ]);
  expect(await confirmedRuns(caller.tenant, entityIds, undefined)).toMatchObject([{ monitor: { _id: monitorId } }]);
});

test("more than 100 entities are refused", async () => {
  const many = Array.from({ length: 101 }, () => newId("ent"));
  const asked = confirmedRuns(someCaller("live").tenant, many, undefined);
  await expect(asked).rejects.toMatchObject({ code: "invalid_request", details: [{ path: "entity_ids" }] });
});
