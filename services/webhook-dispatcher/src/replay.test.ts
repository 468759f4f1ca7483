import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { Logger } from "@vvs/logging";
import { createReplays, type FailedFilter, MAX_REPLAYS, type Replays } from "./replay.ts";
import { createReplayJobs, type ReplayJobs } from "./replay-jobs.ts";
import { runReplays } from "./replay-runner.ts";
import { createTestDeliveries, HOOK, later, start, stranger, type TestDeliveries, tenant } from "./test-deliveries.ts";

let kept: TestDeliveries;
let replays: Replays;
let jobs: ReplayJobs;

beforeAll(async () => {
  kept = await createTestDeliveries(process.env.MONGODB_URI!);
  replays = createReplays(kept);
  jobs = createReplayJobs(kept);
});
beforeEach(() => kept.clear());
afterAll(() => kept.close());

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
    "that %s is due at once, with its window from now and its attempts",
    async (status) => {
      const { _id, event_id, attempts } = await kept.add({ status });
      expect(await replays.replay(tenant, _id, by)).toBe("replayed");
      expect(await kept.find(_id)).toMatchObject({ ...begun, event_id, attempts, replays: [by] });
    },
  );

  test("that waits for a retry, or is held back by its endpoint, is due at once", async () => {
    const { _id } = await kept.add({ status: "pending", next_attempt_at: later(3_600), held: true });
    expect(await replays.replay(tenant, _id, by)).toBe("replayed");
    const after = await kept.find(_id);
    expect(after).toMatchObject(begun);
    expect(after).not.toHaveProperty("held");
  });

  test("of which an attempt is under way is left alone, as its outcome would be lost", async () => {
    const { _id } = await kept.add({ status: "pending", next_attempt_at: later(25), lease: "somebody" });
    const before = await kept.find(_id);
    expect(await replays.replay(tenant, _id, by)).toBe("left");
    expect(await kept.find(_id)).toEqual(before);
  });

  test("whose first attempt waits for that of an earlier event is left alone", async () => {
    const { _id } = await kept.add({ status: "pending", next_attempt_at: null, attempts: [] });
    expect(await replays.replay(tenant, _id, by)).toBe("left");
  });

  test("of another organization is not touched", async () => {
    const { _id } = await kept.add();
    const before = await kept.find(_id);
    expect(await replays.replay(stranger, _id, by)).toBe("left");
    expect(await kept.find(_id)).toEqual(before);
  });

  test(`is begun again ${MAX_REPLAYS} times at most`, async () => {
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
  ])("%s is counted and begun again, and nothing else", async (_name, filter, expected) => {
    expect(await replays.countFailed(tenant, { ...all, ...filter }, 100)).toBe(expected.length);
    expect(await batch({ ...all, ...filter }, 100)).toBe(expected.length);
    expect(await pending()).toEqual(expected);
  });

  test("is begun again in batches, oldest first, each delivery once", async () => {
    expect([await batch(all, 2), await batch(all, 2), await batch(all, 2)]).toEqual([2, 1, 0]);
    expect((await kept.find("plain")).replays).toEqual([{ id: "r", ...by }]);
  });

  test("and fails again meanwhile is not taken in by the same replay a second time", async () => {
    await batch(all, 100);
    await kept.db.collection<{ _id: string }>("deliveries").updateOne({ _id: "plain" }, { $set: { status: "failed" } });
    expect(await batch(all, 100)).toBe(0);
  });
});

describe("a replay of many", () => {
  const logger = { info: () => undefined, error: () => undefined } as unknown as Logger;
  const add = (id: string) => jobs.add(tenant, id, { filter: all, actor: "usr_1", count: 3, now: start });

  /** Runs until no replay is left, or for as long as `carries` lets it. */
  async function run(carries: Replays["replayBatch"] = replays.replayBatch): Promise<void> {
    const stopping = new AbortController();
    const runner = runReplays({
      environment: "live",
      jobs: { claim: jobs.claim, release: jobs.release },
      replays: { replayBatch: carries },
      stopping: stopping.signal,
      logger,
      now: () => later(60),
    });
    while ((await jobs.countRunning(tenant)) > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    stopping.abort();
    await runner.ended();
  }

  test("is carried to its end, and then over", async () => {
    for (let second = 0; second < 3; second++) await kept.add({ created_at: later(second) });
    await add("r1");
    await run();
    expect(await replays.countFailed(tenant, all, 10)).toBe(0);
    expect(await jobs.find(tenant, "r1")).toMatchObject({ state: "done", count: 3 });
    expect(await jobs.claim(later(999), 1)).toBeUndefined();
  });

  test("is noted once by its id, whoever else has the same one", async () => {
    await Promise.all([add("r1"), add("r1")]);
    expect(await jobs.countRunning(tenant)).toBe(1);
    expect(await jobs.find(stranger, "r1")).toBeUndefined();
    await jobs.add(stranger, "r1", { filter: all, actor: "usr_2", count: 0, now: start });
    expect(await jobs.countRunning(stranger)).toBe(1);
  });

  test("survives the death of who carries it out: another one goes on, and no delivery is begun again twice", async () => {
    for (let second = 0; second < 4; second++) await kept.add({ created_at: later(second) });
    await add("r1");
    const dead = await jobs.claim(start, 30_000);
    // The dead one got this far, and noted nothing.
    await replays.replayBatch(tenant, all, { id: dead!._id, ...by }, 2);
    expect(await jobs.claim(later(29), 30_000)).toBeUndefined();
    await run();
    const deliveries = await kept.db.collection("deliveries").find().toArray();
    expect(deliveries.map(({ status, replays: made }) => [status, made.length])).toEqual(
      Array.from({ length: 4 }, () => ["pending", 1]),
    );
  });

  test("goes on after a fault of the database", async () => {
    await kept.add();
    await add("r1");
    let faults = 1;
    await run(async (...args) => {
      if (faults-- > 0) {
        // As if nobody had it in hand any more.
        await kept.db.collection("replays").updateMany({}, { $set: { lease_until: start } });
        throw new Error("away");
      }
      return replays.replayBatch(...args);
    });
    expect(await replays.countFailed(tenant, all, 10)).toBe(0);
  });
});
