import { expect, test } from "@jest/globals";
import { createLeases } from "@vvs/outbox";
import { type ChangeDetected, WebhookRequestedSchema } from "@vvs/proto/events/v1/events";
import { createTestDomain, SECOND, someCaller, someMonitor } from "../testing/domain.ts";
import { detectedChange } from "../testing/records.ts";
import { createEventSequencer } from "./event-sequencer.ts";
import { removeAged } from "./sandbox-retention.ts";

const DAY = 86_400 * SECOND;
const domain = await createTestDomain();

async function startedMonitor() {
  const caller = someCaller();
  const { _id: id } = await domain.started(caller, someMonitor());
  const detected = (seq: number) => detectedChange({ tenant: caller.tenant, id }, { seq, at: domain.clock.at });
  const stored = async () =>
    (await domain.events.find({ monitor_id: id }).sort({ run_seq: 1 }).toArray()).map(({ run_seq }) => run_seq);
  return { tenant: caller.tenant, id, detected, stored };
}

async function record(...records: ChangeDetected[]): Promise<void> {
  for (const each of records) await domain.records.changeDetected(each);
  const { db, client } = domain;
  const leases = createLeases({ db, name: "event_sequencer", owner: "one", leaseMs: 60 * SECOND });
  await leases.renew();
  await createEventSequencer({ db, client, leases }).run();
}

const remove = (keeping = { days: 14, newest: 10_000 }) =>
  removeAged({ ...domain, keeping, now: domain.clock.at, stopping: new AbortController().signal });

test("a removed event is neither stored nor delivered again when its record is read again, and a newer one is", async () => {
  const { id, detected, stored } = await startedMonitor();
  const [first, second] = [detected(1), detected(2)];
  await record(first, second);
  domain.pass(13 * DAY);
  expect(await remove()).toBe(0);
  domain.pass(2 * DAY);
  expect(await remove()).toBe(2);
  await record(first, second, detected(3));
  expect(await stored()).toEqual([3]);
  const requests = await domain.published("webhook.requested", WebhookRequestedSchema);
  expect(requests.filter(({ run }) => run?.monitorId === id)).toHaveLength(3);
});

test("a record that was redriven late is stored if no later event of its monitor is past its time", async () => {
  const { detected, stored } = await startedMonitor();
  const [first, second] = [detected(1), detected(2)];
  await record(second);
  domain.pass(10 * DAY);
  expect(await remove()).toBe(0);
  await record(first);
  expect(await stored()).toEqual([1, 2]);
});

test("the oldest events beyond an organization's number go, and a reader begins at the oldest that is left", async () => {
  const { tenant, detected, stored } = await startedMonitor();
  for (const seq of [1, 2, 3]) {
    await record(detected(seq));
    domain.pass(DAY);
  }
  domain.pass(DAY);
  const beyond = { days: 14, newest: 1 };
  expect(await remove(beyond)).toBe(2);
  expect(await stored()).toEqual([3]);
  await expect(domain.reader.after(tenant, 1, 100)).rejects.toMatchObject({ code: "cursor_expired" });
  expect((await domain.reader.after(tenant, undefined, 100)).events).toHaveLength(1);
});
