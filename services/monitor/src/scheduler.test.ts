import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { VerificationRequestedSchema } from "@vvs/proto/events/v1/events";
import {
  createTestWorld,
  HOUR,
  RUN_TIMEOUT_MS,
  SECOND,
  someCaller,
  someMonitor,
  type TestWorld,
} from "./test-world.ts";

// A world each: its schedule is seen by no other test.
const uri = process.env.MONGODB_URI!;
const worlds: TestWorld[] = [];
async function newWorld(options: { environment?: "live" | "sandbox"; prefix?: string } = {}) {
  const world = await createTestWorld({ uri, ...options });
  worlds.push(world);
  return world;
}
afterAll(() => Promise.all(worlds.map((world) => world.close())));

/** A monitor whose first run has ended. */
async function idleMonitor(world: TestWorld, frequency: "hourly" | "daily" = "hourly") {
  const caller = someCaller(world.environment);
  const { value } = await world.life.create(caller, someMonitor({ frequency }));
  const { open_run: _, ...idle } = value;
  await world.monitors.replaceOne({ _id: value._id }, { ...idle, claimable_at: value.next_run_at });
  return { tenant: caller.tenant, id: value._id, created: value.created_at };
}
const seqs = async (world: TestWorld) =>
  (await world.published("verification.requested", VerificationRequestedSchema)).map(({ run }) => Number(run?.runSeq));

describe("a run", () => {
  test("is not started before it is due, and once when it is", async () => {
    const world = await newWorld();
    const { tenant, id, created } = await idleMonitor(world);
    world.pass(5 * SECOND - 1);
    expect(await world.scheduler.claimDue()).toEqual({ due: 0, claimed: 0 });
    world.pass(1);
    expect(await world.scheduler.claimDue()).toEqual({ due: 1, claimed: 1 });
    expect(await world.scheduler.claimDue()).toEqual({ due: 0, claimed: 0 });
    expect(await seqs(world)).toEqual([1, 2]);
    const monitor = await world.store.find(tenant, id);
    expect([monitor?.run_seq, monitor?.next_run_at]).toEqual([2, new Date(created.getTime() + 10 * SECOND)]);
  });

  test("is claimed by one of several schedulers", async () => {
    const world = await newWorld();
    const others = await Promise.all([1, 2, 3].map(() => newWorld({ prefix: world.prefix })));
    await Promise.all(Array.from({ length: 20 }, () => idleMonitor(world)));
    const all = [world, ...others];
    for (const each of all) each.pass(5 * SECOND);
    const claims = await Promise.all(all.map((each) => each.scheduler.claimDue()));
    expect(claims.reduce((sum, { claimed }) => sum + claimed, 0)).toBe(20);
    expect(await world.runs.countDocuments({ run_seq: 2 })).toBe(20);
    expect((await seqs(world)).filter((seq) => seq === 2)).toHaveLength(20);
  });

  test("that is open holds back the next one until it has had its time", async () => {
    const world = await newWorld();
    await world.life.create(someCaller(), someMonitor({ frequency: "hourly" }));
    world.pass(RUN_TIMEOUT_MS - 1);
    expect((await world.scheduler.claimDue()).claimed).toBe(0);
    world.pass(1);
    expect((await world.scheduler.claimDue()).claimed).toBe(1);
    expect(await seqs(world)).toEqual([1, 2]);
  });

  test("that was missed in an outage is not made up for", async () => {
    const world = await newWorld({ environment: "live" });
    const { tenant, id, created } = await idleMonitor(world);
    world.pass(10.5 * HOUR);
    expect((await world.scheduler.claimDue()).claimed).toBe(1);
    expect((await world.store.find(tenant, id))?.next_run_at).toEqual(new Date(created.getTime() + 11 * HOUR));
  });
});

describe("a cancellation", () => {
  test("that comes first leaves no run to claim", async () => {
    const world = await newWorld();
    const { tenant, id } = await idleMonitor(world);
    await world.life.cancel(tenant, id);
    world.pass(HOUR);
    expect((await world.scheduler.claimDue()).due).toBe(0);
  });

  test("at the time of a claim comes wholly before or wholly after it, and nothing is claimed later", async () => {
    const world = await newWorld();
    const monitors = await Promise.all(Array.from({ length: 20 }, () => idleMonitor(world)));
    world.pass(5 * SECOND);
    const [{ claimed }] = await Promise.all([
      world.scheduler.claimDue(),
      ...monitors.map(({ tenant, id }) => world.life.cancel(tenant, id)),
    ]);
    expect(await world.runs.countDocuments({ run_seq: 2 })).toBe(claimed);
    expect(await world.monitors.countDocuments({ status: "canceled", run_seq: 2 })).toBe(claimed);
    world.pass(HOUR);
    expect(await world.scheduler.claimDue()).toEqual({ due: 0, claimed: 0 });
  });
});

describe("what is due", () => {
  let world: TestWorld;
  beforeAll(async () => {
    world = await newWorld();
  });

  test("is found through an index", async () => {
    const plan = await world.monitors
      .find({ status: "active", claimable_at: { $lte: world.clock.at } })
      .sort({ claimable_at: 1 })
      .limit(50)
      .explain("queryPlanner");
    expect(JSON.stringify(plan.queryPlanner.winningPlan)).toContain('"claimable_at_1"');
  });
});
