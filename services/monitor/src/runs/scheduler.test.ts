import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { inTransaction } from "@vvs/mongo";
import { VerificationRequestedSchema } from "@vvs/proto/events/v1/events";
import {
  createTestDomain,
  HOUR,
  RUN_TIMEOUT_MS,
  SECOND,
  someCaller,
  someMonitor,
  type TestDomain,
} from "../testing/domain.ts";

// Each test has its own domain, so that its schedule is not visible to other tests.
const uri = process.env.MONGODB_URI!;
const domains: TestDomain[] = [];
async function newDomain(options: { environment?: "live" | "sandbox"; prefix?: string } = {}) {
  const domain = await createTestDomain({ uri, ...options });
  domains.push(domain);
  return domain;
}
afterAll(() => Promise.all(domains.map((domain) => domain.close())));

/** A monitor whose first run has ended. */
async function idleMonitor(domain: TestDomain, frequency: "hourly" | "daily" = "hourly") {
  const caller = someCaller(domain.environment);
  const { value } = await domain.commands.create(caller, someMonitor({ frequency }));
  const { open_run: _, ...idle } = value;
  await domain.monitors.replaceOne({ _id: value._id }, { ...idle, claimable_at: value.next_run_at });
  return { tenant: caller.tenant, id: value._id, created: value.created_at };
}
const seqs = async (domain: TestDomain) =>
  (await domain.published("verification.requested", VerificationRequestedSchema)).map(({ run }) => Number(run?.runSeq));

describe("a run", () => {
  test("starts once, and not before it is due", async () => {
    const domain = await newDomain();
    const { tenant, id, created } = await idleMonitor(domain);
    domain.pass(5 * SECOND - 1);
    expect(await domain.scheduler.claimDue()).toEqual({ due: 0, claimed: 0 });
    domain.pass(1);
    expect(await domain.scheduler.claimDue()).toEqual({ due: 1, claimed: 1 });
    expect(await domain.scheduler.claimDue()).toEqual({ due: 0, claimed: 0 });
    expect(await seqs(domain)).toEqual([1, 2]);
    const monitor = await domain.store.find(tenant, id);
    expect([monitor?.run_seq, monitor?.next_run_at]).toEqual([2, new Date(created.getTime() + 10 * SECOND)]);
  });

  test("is claimed by exactly one of several schedulers", async () => {
    const domain = await newDomain();
    const others = await Promise.all([1, 2, 3].map(() => newDomain({ prefix: domain.prefix })));
    await Promise.all(Array.from({ length: 20 }, () => idleMonitor(domain)));
    const all = [domain, ...others];
    for (const each of all) each.pass(5 * SECOND);
    const claims = await Promise.all(all.map((each) => each.scheduler.claimDue()));
    expect(claims.reduce((sum, { claimed }) => sum + claimed, 0)).toBe(20);
    expect(await domain.runs.countDocuments({ run_seq: 2 })).toBe(20);
    expect((await seqs(domain)).filter((seq) => seq === 2)).toHaveLength(20);
  });

  test("that is open delays the next one until it times out", async () => {
    const domain = await newDomain();
    await domain.commands.create(someCaller(), someMonitor({ frequency: "hourly" }));
    domain.pass(RUN_TIMEOUT_MS - 1);
    expect((await domain.scheduler.claimDue()).claimed).toBe(0);
    domain.pass(1);
    expect((await domain.scheduler.claimDue()).claimed).toBe(1);
    expect(await seqs(domain)).toEqual([1, 2]);
  });

  test("of a monitor that another transaction holds does not delay others, and starts when the transaction ends", async () => {
    const domain = await newDomain();
    const held = await idleMonitor(domain);
    await Promise.all(Array.from({ length: 5 }, () => idleMonitor(domain)));
    domain.pass(5 * SECOND);
    await domain.client.withSession(async (killed) => {
      killed.startTransaction();
      // As after a process that crashed during a transaction.
      await domain.monitors.updateOne({ _id: held.id }, { $set: { webhook_url: "" } }, { session: killed });
      expect(await domain.scheduler.claimDue()).toEqual({ due: 6, claimed: 5 });
      expect(await domain.scheduler.claimDue()).toEqual({ due: 1, claimed: 0 });
      await killed.abortTransaction();
    });
    expect(await domain.scheduler.claimDue()).toEqual({ due: 1, claimed: 1 });
    expect((await domain.store.find(held.tenant, held.id))?.run_seq).toBe(2);
  });

  test("that was missed in an outage is skipped", async () => {
    const domain = await newDomain({ environment: "live" });
    const { tenant, id, created } = await idleMonitor(domain);
    domain.pass(10.5 * HOUR);
    expect((await domain.scheduler.claimDue()).claimed).toBe(1);
    expect((await domain.store.find(tenant, id))?.next_run_at).toEqual(new Date(created.getTime() + 11 * HOUR));
  });
});

describe("the monitors of a suspended organization", () => {
  test("do not run and leave the queue; after the reactivation they run at their next due time, without a burst", async () => {
    const domain = await newDomain();
    const { tenant, id, created } = await idleMonitor(domain);
    const other = await idleMonitor(domain);
    domain.suspended.add(tenant.organizationId);
    for (let round = 1; round <= 3; round++) {
      domain.pass(5 * SECOND);
      await domain.scheduler.claimDue();
      expect((await domain.store.find(tenant, id))?.run_seq).toBe(1);
      expect((await domain.scheduler.claimDue()).due).toBe(0);
    }
    expect((await domain.store.find(other.tenant, other.id))?.run_seq).toBe(2);
    domain.suspended.delete(tenant.organizationId);
    expect((await domain.scheduler.claimDue()).due).toBe(0);
    domain.pass(5 * SECOND);
    expect((await domain.scheduler.claimDue()).claimed).toBe(1);
    const after = await domain.store.find(tenant, id);
    expect([after?.run_seq, after?.next_run_at]).toEqual([2, new Date(created.getTime() + 25 * SECOND)]);
  });
});

test("a run that ends while its suspended organization's monitor is skipped stays ended", async () => {
  const domain = await newDomain();
  const { tenant, id } = await idleMonitor(domain);
  const open_run = { run_seq: 1, claimed_at: domain.clock.at };
  await domain.monitors.updateOne({ _id: id }, { $set: { open_run } });
  const seen = (await domain.store.find(tenant, id))!;
  await domain.monitors.updateOne({ _id: id }, { $unset: { open_run: true } });
  await inTransaction(domain.client, (session) =>
    domain.store.replaceScheduled(tenant, session, seen, { ...seen, next_run_at: new Date(0) }),
  );
  expect((await domain.store.find(tenant, id))?.open_run).toBeUndefined();
});

describe("a cancellation", () => {
  test("that comes first leaves no run to claim", async () => {
    const domain = await newDomain();
    const { tenant, id } = await idleMonitor(domain);
    await domain.commands.cancel(tenant, id);
    domain.pass(HOUR);
    expect((await domain.scheduler.claimDue()).due).toBe(0);
  });

  test("concurrent with a claim happens either before or after it, and nothing is claimed later", async () => {
    const domain = await newDomain();
    const monitors = await Promise.all(Array.from({ length: 20 }, () => idleMonitor(domain)));
    domain.pass(5 * SECOND);
    const [{ claimed }] = await Promise.all([
      domain.scheduler.claimDue(),
      ...monitors.map(({ tenant, id }) => domain.commands.cancel(tenant, id)),
    ]);
    expect(await domain.runs.countDocuments({ run_seq: 2 })).toBe(claimed);
    expect(await domain.monitors.countDocuments({ status: "canceled", run_seq: 2 })).toBe(claimed);
    domain.pass(HOUR);
    expect(await domain.scheduler.claimDue()).toEqual({ due: 0, claimed: 0 });
  });
});

describe("what is due", () => {
  let domain: TestDomain;
  beforeAll(async () => {
    domain = await newDomain();
  });

  test("is found through an index", async () => {
    const plan = await domain.monitors
      .find({ status: "active", claimable_at: { $lte: domain.clock.at } })
      .sort({ claimable_at: 1 })
      .limit(50)
      .explain("queryPlanner");
    expect(JSON.stringify(plan.queryPlanner.winningPlan)).toContain('"claimable_at_1"');
  });
});
