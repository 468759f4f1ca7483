import { beforeEach, describe, expect, test } from "@jest/globals";
import type { Logger } from "@vvs/logging";
import { hookedDb } from "@vvs/testing";
import { createTestDeliveries, HOOK, later, start, stranger, tenant } from "../testing/deliveries.ts";
import { createReplays, type FailedFilter, MAX_REPLAYS, type Replays } from "./replay.ts";
import { createReplayJobs, runReplays } from "./replay-jobs.ts";

const kept = await createTestDeliveries();
const replays = createReplays(kept);
const jobs = createReplayJobs(kept);
beforeEach(() => kept.clear());

const by = { at: later(60), actor: "usr_1" };
const all: FailedFilter = { since: start, until: later(60) };
const begun = {
  status: "pending",
  next_attempt_at: by.at,
  due_at: by.at,
  window_started_at: by.at,
  schedule_step: 0,
};

describe("a delivery", () => {
  test.each(["failed", "delivered"] as const)(
    "that %s is due immediately, keeps its attempts, and has a new window of 24 h",
    async (status) => {
      const { _id, event_id, attempts } = await kept.add({ status });
      expect(await replays.replay(tenant, _id, by)).toBe("replayed");
      expect(await kept.find(_id)).toMatchObject({ ...begun, event_id, attempts, replays: [by] });
    },
  );

  test("that waits for a retry, or is held, is due immediately", async () => {
    const { _id } = await kept.add({ status: "pending", next_attempt_at: later(3_600), held: true });
    expect(await replays.replay(tenant, _id, by)).toBe("replayed");
    const after = await kept.find(_id);
    expect(after).toMatchObject(begun);
    expect(after).not.toHaveProperty("held");
  });

  test("with an attempt in flight is not changed, as the outcome would be lost", async () => {
    const { _id } = await kept.add({ status: "pending", next_attempt_at: later(25), lease: "somebody" });
    const before = await kept.find(_id);
    expect(await replays.replay(tenant, _id, by)).toBe("left");
    expect(await kept.find(_id)).toEqual(before);
  });

  test("that is blocked by an earlier event is not changed", async () => {
    const { _id } = await kept.add({ status: "pending", next_attempt_at: null, attempts: [] });
    expect(await replays.replay(tenant, _id, by)).toBe("left");
  });

  test("of another organization is not touched", async () => {
    const { _id } = await kept.add();
    const before = await kept.find(_id);
    expect(await replays.replay(stranger, _id, by)).toBe("left");
    expect(await kept.find(_id)).toEqual(before);
  });

  test(`is replayed at most ${MAX_REPLAYS} times`, async () => {
    const { _id } = await kept.add({ replays: Array.from({ length: MAX_REPLAYS }, () => by) });
    expect(await replays.replay(tenant, _id, by)).toBe("replayed_too_often");
    expect(await replays.countFailed(tenant, all, 10)).toBe(0);
  });
});

describe("all that failed", () => {
  beforeEach(async () => {
    await kept.add({ _id: "plain", created_at: later(10) });
    await kept.add({ _id: "other_monitor", created_at: later(20), monitor_id: "mon_2" });
    await kept.add({ _id: "other_url", created_at: later(30), webhook_url: `${HOOK}/other` });
    await kept.add({ _id: "delivered", created_at: later(10), status: "delivered" });
    await kept.add({ _id: "test", created_at: later(10), test: true });
    await kept.add({ _id: "before", created_at: later(-1) });
    await kept.add({ _id: "after", created_at: later(61) });
    await kept.add({ _id: "foreign", created_at: later(10), organization_id: stranger.organizationId });
  });

  const batch = (filter: FailedFilter, limit: number) => replays.replayBatch(tenant, filter, { id: "r", ...by }, limit);
  const pending = async () => {
    const found = await kept.db.collection("deliveries").find({ status: "pending" }).sort({ created_at: 1 }).toArray();
    return found.map(({ _id }) => String(_id));
  };

  test.each<[string, Partial<FailedFilter>, string[]]>([
    ["since a time, tests left out", {}, ["plain", "other_monitor", "other_url"]],
    ["of one monitor", { monitorId: "mon_2" }, ["other_monitor"]],
    ["to one URL", { webhookUrl: HOOK }, ["plain", "other_monitor"]],
  ])("%s is counted and replayed, and nothing else", async (_name, filter, expected) => {
    expect(await replays.countFailed(tenant, { ...all, ...filter }, 100)).toBe(expected.length);
    expect(await batch({ ...all, ...filter }, 100)).toBe(expected.length);
    expect(await pending()).toEqual(expected);
  });

  test("is replayed in batches, oldest first, each delivery once", async () => {
    expect([await batch(all, 2), await batch(all, 2), await batch(all, 2)]).toEqual([2, 1, 0]);
    expect((await kept.find("plain")).replays).toEqual([{ id: "r", ...by }]);
  });

  test("and fails again meanwhile is not replayed twice by the same replay", async () => {
    await batch(all, 100);
    await kept.db.collection<{ _id: string }>("deliveries").updateOne({ _id: "plain" }, { $set: { status: "failed" } });
    expect(await batch(all, 100)).toBe(0);
  });

  test("and fails again between the read and the write of a second runner is not replayed twice", async () => {
    let isFirst = true;
    const paused = hookedDb(kept.db, "deliveries", "updateMany", async () => {
      if (!isFirst) return;
      isFirst = false;
      await batch(all, 100);
      await kept.db.collection("deliveries").updateMany({ status: "pending" }, { $set: { status: "failed" } });
    });
    await createReplays({ db: paused }).replayBatch(tenant, all, { id: "r", ...by }, 100);
    expect(await pending()).toEqual([]);
    expect((await kept.find("plain")).replays).toEqual([{ id: "r", ...by }]);
  });
});

describe("a bulk replay", () => {
  const logger = { info: () => undefined, error: () => undefined } as unknown as Logger;
  const add = (id: string) => jobs.add(tenant, id, { filter: all, actor: "usr_1", count: 3, now: start });

  /** Runs until no replay is left. */
  async function run(replayBatch: Replays["replayBatch"] = replays.replayBatch): Promise<void> {
    const stopping = new AbortController();
    const runner = runReplays({
      environment: "live",
      jobs: { claim: jobs.claim, release: jobs.release },
      replays: { replayBatch },
      stopping: stopping.signal,
      logger,
      now: () => later(60),
    });
    while ((await jobs.countRunning(tenant)) > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    stopping.abort();
    await runner.ended();
  }

  test("is carried out to its end and is done then", async () => {
    for (let second = 0; second < 3; second++) await kept.add({ created_at: later(second) });
    await add("r1");
    await run();
    expect(await replays.countFailed(tenant, all, 10)).toBe(0);
    expect(await jobs.find(tenant, "r1")).toMatchObject({ state: "done", count: 3 });
    expect(await jobs.claim(later(999), 1)).toBeUndefined();
  });

  test("is stored once by its id, even where another organization uses the same id", async () => {
    await Promise.all([add("r1"), add("r1")]);
    expect(await jobs.countRunning(tenant)).toBe(1);
    expect(await jobs.find(stranger, "r1")).toBeUndefined();
    await jobs.add(stranger, "r1", { filter: all, actor: "usr_2", count: 0, now: start });
    expect(await jobs.countRunning(stranger)).toBe(1);
  });

  test("survives the death of its replica: another one goes on, and no delivery is replayed twice", async () => {
    for (let second = 0; second < 4; second++) await kept.add({ created_at: later(second) });
    await add("r1");
    const dead = await jobs.claim(start, 30_000);
    // The dead replica did a batch, but did not store that.
    await replays.replayBatch(tenant, all, { id: dead!._id, ...by }, 2);
    expect(await jobs.claim(later(29), 30_000)).toBeUndefined();
    await run();
    const deliveries = await kept.db.collection("deliveries").find().toArray();
    expect(deliveries.map(({ status, replays: made }) => [status, made.length])).toEqual(
      Array.from({ length: 4 }, () => ["pending", 1]),
    );
  });

  test.each([true, false])("is released (done: %s) only by the runner that holds its lease", async (isDone) => {
    await add("r1");
    const paused = (await jobs.claim(start, 30_000))!;
    const held = (await jobs.claim(later(31), 30_000))!;
    await jobs.release(paused, { isDone, now: later(32) });
    expect(await jobs.find(tenant, "r1")).toEqual(held);
    await jobs.release(held, { isDone: true, now: later(33) });
    await jobs.release(paused, { isDone, now: later(34) });
    expect(await jobs.find(tenant, "r1")).toEqual({ ...held, state: "done", lease_until: later(33) });
  });

  test("goes on after a failure of the database", async () => {
    await kept.add();
    await add("r1");
    let faults = 1;
    await run(async (...args) => {
      if (faults-- > 0) {
        // As if its lease had expired.
        await kept.db.collection("replays").updateMany({}, { $set: { lease_until: start } });
        throw new Error("unavailable");
      }
      return replays.replayBatch(...args);
    });
    expect(await replays.countFailed(tenant, all, 10)).toBe(0);
  });
});
