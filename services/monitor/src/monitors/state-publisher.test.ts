import { beforeEach, expect, test } from "@jest/globals";
import { createLeases } from "@vvs/outbox";
import { CheckType } from "@vvs/proto/common/v1/common";
import { MonitorStateChangedSchema } from "@vvs/proto/events/v1/events";
import { Frequency } from "@vvs/proto/monitor/v1/monitor";
import { hookedDb } from "@vvs/testing";
import type { Db } from "mongodb";
import type { MonitorDocument } from "../model/monitor.ts";
import { createTestDomain, SECOND, someCaller, someMonitor, type TestDomain } from "../testing/domain.ts";
import { createPublishStates, UNPUBLISHED_STATES } from "./state-publisher.ts";

const TOPIC = "sandbox.monitor.state_changed";
let domain: TestDomain;
let publish: () => Promise<void>;
let nudged: number;
beforeEach(async () => {
  domain = await createTestDomain();
  nudged = 0;
  publish = await publisher();
});

/** Returns the publisher of a replica that holds the lease. */
async function publisher(db: Db = domain.db) {
  const leases = createLeases({ db: domain.db, name: "state_publisher", owner: "one", leaseMs: 60 * SECOND });
  await leases.renew();
  return createPublishStates({
    environment: "sandbox",
    client: domain.client,
    db,
    topic: TOPIC,
    nudge: () => {
      nudged += 1;
    },
    leases,
  });
}

const created = async (caller = someCaller()) => ({
  caller,
  monitor: (await domain.commands.create(caller, someMonitor())).value,
});
const cancel = (one: Awaited<ReturnType<typeof created>>) => domain.commands.cancel(one.caller, one.monitor._id);
const published = async () =>
  (await domain.published(TOPIC, MonitorStateChangedSchema)).map(({ monitorId, active }) => ({ monitorId, active }));
const statesOf = async ({ monitor }: Awaited<ReturnType<typeof created>>) =>
  (await published()).filter(({ monitorId }) => monitorId === monitor._id).map(({ active }) => active);

test("a creation and a cancellation are each published once, with the vendor and its owner", async () => {
  const one = await created();
  await publish();
  await publish();
  await cancel(one);
  await publish();
  await publish();
  expect(await statesOf(one)).toEqual([true, false]);
  expect(nudged).toBe(2);
  const [record] = await domain.published(TOPIC, MonitorStateChangedSchema);
  expect(record).toMatchObject({
    recordId: `${one.monitor._id}:state:1`,
    tenant: { organizationId: one.caller.tenant.organizationId },
    entityId: one.monitor.entity_id,
    frequency: Frequency.DAILY,
    checks: [CheckType.SAM_REGISTRATION],
    stateSeq: 1n,
  });
});

const frequenciesOf = async ({ monitor }: Awaited<ReturnType<typeof created>>) =>
  (await domain.published(TOPIC, MonitorStateChangedSchema))
    .filter(({ monitorId }) => monitorId === monitor._id)
    .map(({ frequency, stateSeq }) => [frequency, Number(stateSeq)]);

test("another frequency is published with a higher number", async () => {
  const one = await created();
  await publish();
  await domain.commands.update(one.caller, one.monitor._id, { frequency: "hourly" });
  await publish();
  await publish();
  expect(await frequenciesOf(one)).toEqual([
    [Frequency.DAILY, 1],
    [Frequency.HOURLY, 2],
  ]);
});

test("a frequency that changes while it is published is published again, under another number", async () => {
  const one = await created();
  const change = () => domain.commands.update(one.caller, one.monitor._id, { frequency: "monthly" });
  const changing = await publisher(hookedDb(domain.db, "monitors", "bulkWrite", async () => void (await change())));
  await changing();
  await publish();
  expect(await frequenciesOf(one)).toEqual([
    [Frequency.DAILY, 1],
    [Frequency.MONTHLY, 2],
  ]);
});

test("many monitors are published in several batches", async () => {
  const { _id: _, ...template } = (await created()).monitor;
  const ids = Array.from({ length: 450 }, (_each, index) => `mon_${index}`);
  await domain.monitors.insertMany(ids.map((_id) => ({ ...template, _id }) as MonitorDocument));
  await publish();
  expect(new Set((await published()).map(({ monitorId }) => monitorId)).size).toBe(ids.length + 1);
});

test("a monitor that is canceled while its creation is published is published again", async () => {
  const one = await created();
  const canceling = await publisher(
    hookedDb(domain.db, "monitors", "bulkWrite", async () => {
      await cancel(one);
    }),
  );
  await canceling();
  await publish();
  expect(await statesOf(one)).toEqual([true, false]);
});

test("a crash after the records were stored publishes them again, and loses none", async () => {
  const one = await created();
  const crashing = await publisher(
    hookedDb(domain.db, "monitors", "bulkWrite", () => {
      throw new Error("killed");
    }),
  );
  await expect(crashing()).rejects.toThrow("killed");
  await publish();
  expect(await statesOf(one)).toEqual([true, true]);
});

test("a search where nothing is to be published reads few keys and no monitor, with any number of monitors", async () => {
  for (let index = 0; index < 20; index++) await created();
  await publish();
  for (const { index, filter } of UNPUBLISHED_STATES) {
    const plan = await domain.monitors.find(filter).hint(index).limit(200).explain("executionStats");
    expect(plan.executionStats.totalKeysExamined).toBeLessThanOrEqual(10);
    expect(plan.executionStats.totalDocsExamined).toBe(0);
  }
});
