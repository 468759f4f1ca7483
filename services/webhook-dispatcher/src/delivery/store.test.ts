import { beforeEach, describe, expect, test } from "@jest/globals";
import { skippedEntries } from "@vvs/testing";
import type { Attempt, Delivery } from "../model/delivery.ts";
import { createTestDeliveries, failedDelivery, later, start } from "../testing/deliveries.ts";
import { createDeliveryStore } from "./store.ts";

const kept = await createTestDeliveries();
const store = createDeliveryStore(kept);
beforeEach(() => kept.clear());

const delivery = (id: string, more: Partial<Delivery> = {}): Delivery =>
  failedDelivery({
    ...{ _id: id, event_id: `evt_${id}`, monitor_id: `mon_${id}`, endpoint_id: "endpoint" },
    ...{ status: "pending", attempts: [], next_attempt_at: start },
    ...more,
  });
const attempt = (number: number, at: Date): Attempt => ({
  number,
  started_at: at,
  duration_ms: 10,
  status_code: 500,
  error: "http_status",
  answer_excerpt: "",
});
const find = (id: string) => kept.deliveries.findOne({ _id: id });

async function claim(at: Date): Promise<Delivery[]> {
  return store.claim(await store.due(at, 10), { now: at, leaseUntil: new Date(at.getTime() + 22_000) });
}

test("what became due since a time is found without walking over what was due and is done", async () => {
  const done = Array.from({ length: 300 }, (_, index) => delivery(`done${index}`));
  await store.insert([...done, delivery("a", { next_attempt_at: later(55), due_at: later(55) })]);
  const { deliveries } = kept;
  await deliveries.updateMany({ next_attempt_at: start }, { $set: { status: "delivered", next_attempt_at: null } });
  const walkedBy = async (since?: Date) => {
    const before = await skippedEntries(kept.deliveries, "due");
    expect(await store.due(later(60), 10, since)).toMatchObject([{ _id: "a" }]);
    return (await skippedEntries(kept.deliveries, "due")) - before;
  };
  expect(await walkedBy()).toBeGreaterThan(200);
  expect(await walkedBy(later(50))).toBeLessThan(100);
});

test("a monitor's first event is found without walking over the events of other monitors that are done", async () => {
  const ids = Array.from({ length: 300 }, (_, index) => `${index}`);
  await store.insert(ids.map((id) => delivery(id, { first_attempt_owed: true, lease: "lease" })));
  const outcome = { status: "delivered" } as const;
  await store.record(
    (await kept.deliveries.find().toArray()).map((done) => ({ delivery: done, attempt: attempt(1, start), outcome })),
  );
  const before = await skippedEntries(kept.deliveries, "first_attempts");
  const monitors = ids.slice(0, 50).map((id) => `mon_${id}_new`);
  expect(await store.monitorHeads(monitors)).toEqual([]);
  expect((await skippedEntries(kept.deliveries, "first_attempts")) - before).toBeLessThan(
    (monitors.length * ids.length) / 10,
  );
});

test("deliveries are unblocked and claimed without walking over those that are done", async () => {
  const done = { status: "delivered", next_attempt_at: null } as const;
  const ids = Array.from({ length: 2_000 }, (_, index) => `${index}`);
  await store.insert(ids.map((id) => delivery(id)));
  await kept.deliveries.updateMany({}, { $set: done });
  const [rounds, together] = [10, 16];
  const before = await skippedEntries(kept.deliveries, "due");
  for (let round = 0; round < rounds; round++) {
    const some = Array.from({ length: together }, (_, index) => `new${round}_${index}`);
    await store.insert(some.map((id) => delivery(id, { first_attempt_owed: true, next_attempt_at: null })));
    const candidates = await kept.deliveries.find({ _id: { $in: some } }, { hint: { _id: 1 } }).toArray();
    await store.unblock(some, start);
    expect(await store.claim(candidates, { now: later(1), leaseUntil: later(22) })).toHaveLength(together);
    await kept.deliveries.updateMany({ _id: { $in: some } }, { $set: done }, { hint: { _id: 1 } });
  }
  expect((await skippedEntries(kept.deliveries, "due")) - before).toBeLessThan((rounds * ids.length) / 10);
});

describe("a claim", () => {
  test("has one holder, until its lease ends", async () => {
    await store.insert([delivery("a"), delivery("b")]);
    const due = await store.due(start, 10);
    const options = { now: start, leaseUntil: later(22) };
    const claimed = await Promise.all([1, 2, 3].map(() => store.claim(due, options)));
    expect(
      claimed
        .flat()
        .map(({ _id }) => _id)
        .sort(),
    ).toEqual(["a", "b"]);
    expect(await claim(later(21))).toEqual([]);
    expect(await claim(later(22))).toHaveLength(2);
  });

  test("of a held delivery may come before its time", async () => {
    await store.insert([delivery("a", { held: true, next_attempt_at: later(240) })]);
    expect(await store.due(start, 10)).toEqual([]);
    const held = await store.held("endpoint", 10);
    const claimed = await store.claim(held, { now: start, leaseUntil: later(22) });
    expect(claimed).toMatchObject([{ _id: "a", due_at: start }]);
    expect(await store.held("endpoint", 10)).toEqual([]);
  });
});

describe("a record", () => {
  test("stores the result of each attempt of a batch", async () => {
    await store.insert([
      delivery("a", { first_attempt_owed: true }),
      delivery("b"),
      delivery("c", { schedule_step: 3 }),
    ]);
    const claimed = await claim(start);
    const [a, b, c] = ["a", "b", "c"].map((id) => claimed.find(({ _id }) => _id === id)!);
    const recorded = await store.record([
      { delivery: c!, attempt: attempt(9, start), outcome: { status: "failed" } },
      { delivery: a!, attempt: attempt(1, start), outcome: { status: "pending", nextAttemptAt: later(5) } },
      { delivery: b!, attempt: attempt(2, start), outcome: { status: "delivered" } },
    ]);
    expect(recorded).toEqual([true, true, true]);
    expect(await find("a")).toEqual({
      ...delivery("a"),
      attempts: [attempt(1, start)],
      next_attempt_at: later(5),
      due_at: later(5),
    });
    expect(await find("b")).toEqual({
      ...delivery("b"),
      status: "delivered",
      attempts: [attempt(2, start)],
      next_attempt_at: null,
    });
    expect(await find("c")).toMatchObject({ status: "failed", schedule_step: 4, attempts: [{ number: 9 }] });
  });

  test("is refused where the lease was lost, and accepted for the others of the batch", async () => {
    await store.insert([delivery("a"), delivery("b")]);
    const [a, b] = await claim(start);
    await claim(later(22)); // another holder has both now
    const [, again] = await claim(later(44));
    const made = (whose: Delivery, at: Date) => ({
      delivery: whose,
      attempt: attempt(1, at),
      outcome: { status: "delivered" } as const,
    });
    expect(await store.record([made(a!, start), made(b!, later(1)), made(again!, later(45))])).toEqual([
      false,
      false,
      true,
    ]);
  });

  test("that is repeated, as the reply was lost, succeeds and is stored once", async () => {
    await store.insert([delivery("a")]);
    const [claimed] = await claim(start);
    const made = { delivery: claimed!, attempt: attempt(1, start), outcome: { status: "delivered" } as const };
    expect(await store.record([made])).toEqual([true]);
    expect(await store.record([made])).toEqual([true]);
    expect((await find("a"))!.attempts).toHaveLength(1);
  });
});

test("an event that is accepted again stays as it is, and the others of its batch are accepted", async () => {
  await store.insert([delivery("a", { status: "delivered" })]);
  expect(await store.insert([delivery("a"), delivery("b")])).toEqual(new Set(["a"]));
  expect(await find("a")).toMatchObject({ status: "delivered" });
  expect(await find("b")).toMatchObject({ status: "pending" });
});

test("of a monitor's events, the first one owed its first attempt is due, and the next when that attempt has ended", async () => {
  const owed = { monitor_id: "mon_1", first_attempt_owed: true } as const;
  await store.insert([
    delivery("c", { ...owed, run_seq: 3, next_attempt_at: null }),
    delivery("b", { ...owed, run_seq: 2, next_attempt_at: null }),
    delivery("a", { ...owed, run_seq: 1 }),
  ]);
  expect(await store.monitorHeads(["mon_1", "mon_2"])).toMatchObject([{ _id: "a", monitor_id: "mon_1" }]);
  expect(await store.blockedMonitors()).toEqual(["mon_1"]);
  const [claimed] = await claim(start);
  const outcome = { status: "pending", nextAttemptAt: later(5) } as const;
  await store.record([{ delivery: claimed!, attempt: attempt(1, start), outcome }]);
  const heads = await store.monitorHeads(["mon_1"]);
  expect(heads).toEqual([{ _id: "b", monitor_id: "mon_1", next_attempt_at: null }]);
  await store.unblock(["b"], later(1));
  expect(await claim(later(1))).toMatchObject([{ _id: "b" }]);
});
