import { expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import type { Tenant } from "@vvs/tenant";
import type { EventDocument, MonitorDocument } from "../model/monitor.ts";
import { callerIn, createTestDomain, SECOND, someCaller, someMonitor, type TestDomain } from "../testing/domain.ts";

const DAY = 86_400 * SECOND;
const live = await createTestDomain({ environment: "live" });
const sandbox = await createTestDomain({ prefix: live.prefix });

/** A monitor with ended runs of these numbers; the last one is its last run. */
async function withRuns(domain: TestDomain, ...numbers: number[]) {
  const caller = someCaller(domain.environment);
  const { value } = await domain.commands.create(caller, someMonitor());
  const { organizationId } = caller.tenant;
  const ofRun = (runSeq: number) => ({
    id: newId("ver"),
    organizationId,
    monitorId: value._id,
    runSeq: BigInt(runSeq),
  });
  const verifications = numbers.map(ofRun);
  for (const { id, runSeq } of verifications) {
    const ended = { ended_at: domain.clock.at, outcome: "pass" as const, verification_id: id };
    await domain.runs.insertOne({ ...runOf(caller.tenant, value._id, Number(runSeq)), ...ended });
  }
  const last = verifications.at(-1);
  const last_run = last && {
    run_seq: Number(last.runSeq),
    at: domain.clock.at,
    outcome: "pass" as const,
    verification_id: last.id,
  };
  await domain.monitors.updateOne({ _id: value._id }, { $set: { last_run } as Partial<MonitorDocument> });
  return { caller, monitorId: value._id, verifications, ofRun };

  function runOf({ organizationId: organization_id }: Tenant, monitor_id: string, run_seq: number) {
    return { _id: `${monitor_id}:${run_seq}`, organization_id, monitor_id, run_seq, claimed_at: domain.clock.at };
  }
}

const eventOf = (domain: TestDomain, { id, organizationId, monitorId, runSeq }: Asked): EventDocument => ({
  _id: newId("evt"),
  organization_id: organizationId,
  monitor_id: monitorId,
  entity_id: newId("ent"),
  run_seq: Number(runSeq),
  verification_id: id,
  changes: [],
  created_at: domain.clock.at,
});
type Asked = Awaited<ReturnType<typeof withRuns>>["verifications"][number];

const runsOf = async (domain: TestDomain, monitor_id: string) =>
  (await domain.runs.find({ monitor_id }).sort({ run_seq: 1 }).toArray()).map(({ run_seq }) => run_seq);
const daysFrom = (domain: TestDomain, days: number) => new Date(domain.clock.at.getTime() + days * DAY);

test("the last run's verification is named for a year more, and the runs of others are removed", async () => {
  const { monitorId, verifications } = await withRuns(live, 1, 2, 3);
  const named = await live.releaseVerifications(verifications);
  expect([...named]).toEqual([[verifications[2]!.id, daysFrom(live, 365)]]);
  expect(await runsOf(live, monitorId)).toEqual([3]);
});

test("a canceled monitor names it for a year after its cancellation", async () => {
  const { caller, monitorId, verifications } = await withRuns(live, 1);
  await live.commands.cancel(caller, monitorId);
  const canceledAt = live.clock.at;
  live.pass(364 * DAY);
  expect([...(await live.releaseVerifications(verifications)).values()]).toEqual([
    new Date(canceledAt.getTime() + 365 * DAY),
  ]);
  live.pass(DAY);
  expect((await live.releaseVerifications(verifications)).size).toBe(0);
});

test("an event names its verification for as long as it is kept", async () => {
  const ofLive = await withRuns(live, 1, 2);
  await live.events.insertOne(eventOf(live, ofLive.verifications[0]!));
  const named = await live.releaseVerifications([ofLive.verifications[0]!]);
  // A day longer, as events are removed later than their time.
  expect([...named]).toEqual([[ofLive.verifications[0]!.id, daysFrom(live, 2_558)]]);
  const ofSandbox = await withRuns(sandbox, 1, 2);
  await sandbox.events.insertOne(eventOf(sandbox, ofSandbox.verifications[0]!));
  expect([...(await sandbox.releaseVerifications([ofSandbox.verifications[0]!])).values()]).toEqual([
    daysFrom(sandbox, 1),
  ]);
});

test("the verification of a run whose end was not read yet stays", async () => {
  const { monitorId, ofRun } = await withRuns(live);
  await live.scheduler.claimDue();
  const verification = ofRun(1);
  expect([...(await live.releaseVerifications([verification]))]).toEqual([[verification.id, daysFrom(live, 1)]]);
  expect(await runsOf(live, monitorId)).toEqual([1]);
});

test("verifications and runs of another organization are neither named nor removed", async () => {
  const { monitorId, verifications } = await withRuns(live, 1, 2);
  const { organizationId } = callerIn({ organizationId: newId("org"), environment: "live" }).tenant;
  expect((await live.releaseVerifications(verifications.map((one) => ({ ...one, organizationId })))).size).toBe(0);
  expect(await runsOf(live, monitorId)).toEqual([1, 2]);
});

test("more than 500 are refused", async () => {
  const one = { id: newId("ver"), organizationId: newId("org"), monitorId: newId("mon"), runSeq: 1n };
  await expect(live.releaseVerifications(Array(501).fill(one))).rejects.toMatchObject({ code: "invalid_request" });
});
