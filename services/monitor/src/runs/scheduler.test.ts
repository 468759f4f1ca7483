import { describe, expect, jest, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { inTransaction } from "@vvs/mongo";
import { VerificationRequestedSchema } from "@vvs/proto/events/v1/events";
import { recordTelemetry } from "@vvs/telemetry/testing";
import { type Document, ObjectId } from "mongodb";
import type { MonitorDocument, RunDocument } from "../model/monitor.ts";
import {
  callerIn,
  createTestDomain,
  HOUR,
  RUN_TIMEOUT_MS,
  SECOND,
  someCaller,
  someMonitor,
  type TestDomain,
} from "../testing/domain.ts";

const { spans, metric } = recordTelemetry();

// Each test has its own domain, so that its schedule is not visible to other tests.

/** A monitor whose first run has ended. */
async function idleMonitor(domain: TestDomain, frequency: "hourly" | "daily" = "hourly") {
  const caller = someCaller(domain.environment);
  const { _id: id, open_run: _, ...idle } = await domain.started(caller, someMonitor({ frequency }));
  await domain.monitors.replaceOne({ _id: id }, { ...idle, claimable_at: idle.next_run_at! });
  return { tenant: caller.tenant, id, created: idle.created_at };
}

/** Stores monitors of an organization that are due now, whose first run has ended. Returns their ids. */
async function due(
  domain: TestDomain,
  { organizationId, count, traceparent }: { organizationId: string; count: number; traceparent?: string },
): Promise<string[]> {
  const at = domain.clock.at;
  const created = { frequency: "hourly", webhook_url: "https://example.com/hook", next_run_at: at } as const;
  const monitors = Array.from({ length: count }, (): MonitorDocument => {
    const { frequency, webhook_url, next_run_at } = created;
    return {
      ...{ _id: newId("mon"), organization_id: organizationId, entity_id: newId("ent"), checks: ["sam_registration"] },
      ...{ frequency, webhook_url, status: "active", created_at: at, created_by: "key_1", created_as: created },
      ...{ run_seq: 1, last_due_at: at, next_run_at, claimable_at: at, consecutive_errors: 0, event_count: 0 },
      ...(traceparent && { traceparent }),
    };
  });
  await domain.monitors.insertMany(monitors);
  return monitors.map(({ _id }) => _id);
}

const someRun = (organizationId: string, monitorId: string): Omit<RunDocument, "_id"> => ({
  organization_id: organizationId,
  monitor_id: monitorId,
  run_seq: 2,
  claimed_at: new Date(),
});

/** Calls a function between the reading of due monitors and their claim. */
function afterRead(domain: TestDomain, call: () => Promise<unknown>): void {
  const { claimable } = domain.store;
  jest.spyOn(domain.store, "claimable").mockImplementationOnce(async (...args) => {
    const read = await claimable(...args);
    await call();
    return read;
  });
}

const seqs = async (domain: TestDomain) =>
  (await domain.published("verification.requested", VerificationRequestedSchema)).map(({ run }) => Number(run?.runSeq));

describe("a run", () => {
  test("starts once, and not before it is due", async () => {
    const domain = await createTestDomain();
    const { tenant, id, created } = await idleMonitor(domain);
    domain.pass(5 * SECOND - 1);
    expect(await domain.scheduler.claimDue()).toMatchObject({ due: 0, claimed: 0 });
    domain.pass(1);
    expect(await domain.scheduler.claimDue()).toMatchObject({ due: 1, claimed: 1 });
    expect(await domain.scheduler.claimDue()).toMatchObject({ due: 0, claimed: 0 });
    expect(await seqs(domain)).toEqual([1, 2]);
    const monitor = await domain.store.find(tenant, id);
    expect([monitor?.run_seq, monitor?.next_run_at]).toEqual([2, new Date(created.getTime() + 10 * SECOND)]);
  });

  test("is claimed by exactly one of several schedulers", async () => {
    const domain = await createTestDomain();
    const others = await Promise.all([1, 2, 3].map(() => createTestDomain({ prefix: domain.prefix })));
    await Promise.all(Array.from({ length: 20 }, () => idleMonitor(domain)));
    const all = [domain, ...others];
    for (const each of all) each.pass(5 * SECOND);
    const claims = await Promise.all(all.map((each) => each.scheduler.claimDue()));
    expect(claims.reduce((sum, { claimed }) => sum + claimed, 0)).toBe(20);
    expect(await domain.runs.countDocuments({ run_seq: 2 })).toBe(20);
    expect((await seqs(domain)).filter((seq) => seq === 2)).toHaveLength(20);
  });

  test("that is open delays the next one until it times out", async () => {
    const domain = await createTestDomain();
    await domain.started(someCaller(), someMonitor({ frequency: "hourly" }));
    domain.pass(RUN_TIMEOUT_MS - 1);
    expect((await domain.scheduler.claimDue()).claimed).toBe(0);
    domain.pass(1);
    expect((await domain.scheduler.claimDue()).claimed).toBe(1);
    expect(await seqs(domain)).toEqual([1, 2]);
  });

  test("that was missed in an outage is skipped", async () => {
    const domain = await createTestDomain({ environment: "live" });
    const { tenant, id } = await idleMonitor(domain);
    domain.pass(10.5 * HOUR);
    expect((await domain.scheduler.claimDue()).claimed).toBe(1);
    const next = (await domain.store.find(tenant, id))!.next_run_at!.getTime();
    expect(next).toBeGreaterThan(domain.clock.at.getTime());
    expect(next).toBeLessThanOrEqual(domain.clock.at.getTime() + HOUR);
  });

  test("has a new trace of its own, linked to the call that created the monitor", async () => {
    const domain = await createTestDomain({ environment: "live" });
    const { organizationId } = someCaller("live").tenant;
    const traceparent = "00-11111111111111111111111111111111-2222222222222222-01";
    await due(domain, { organizationId, count: 3, traceparent });
    spans.length = 0;
    await domain.scheduler.claimDue();
    const runs = spans.filter(({ name }) => name === "monitor run");
    expect(runs.map(({ links }) => links[0]?.context.spanId)).toEqual(Array(3).fill("2222222222222222"));
    const rows = await domain.db.collection("outbox").find({}).toArray();
    const carried = rows.map(({ headers }) => headers.traceparent.split("-")[1]);
    expect(new Set(carried)).toEqual(new Set(runs.map((run) => run.spanContext().traceId)));
    expect(new Set(carried).size).toBe(3);
  });
});

describe("a claim that fails", () => {
  const refusedClaims = async () => {
    const failed = (await metric("monitor_claims_failed"))?.dataPoints ?? [];
    const isOurs = ({ environment, reason }: (typeof failed)[number]["attributes"]) =>
      environment === "sandbox" && reason === "refused";
    return Number(failed.find(({ attributes }) => isOurs(attributes))?.value ?? 0);
  };

  test("because another transaction holds the monitor delays no other, and succeeds when the transaction ends", async () => {
    const domain = await createTestDomain({ environment: "live" });
    const { organizationId } = someCaller("live").tenant;
    const [held] = await due(domain, { organizationId, count: 6 });
    await due(domain, { organizationId: someCaller("live").tenant.organizationId, count: 2 });
    await domain.client.withSession(async (killed) => {
      killed.startTransaction();
      // As after a process that crashed during a transaction.
      await domain.monitors.updateOne({ _id: held }, { $set: { webhook_url: "" } }, { session: killed });
      expect(await domain.scheduler.claimDue()).toMatchObject({ due: 8, claimed: 7 });
      expect(await domain.scheduler.claimDue()).toMatchObject({ due: 1, claimed: 0 });
      await killed.abortTransaction();
    });
    expect(await domain.scheduler.claimDue()).toMatchObject({ due: 1, claimed: 1 });
  });

  test("for ever delays neither the rest of its organization, even behind a whole batch of such claims, nor others", async () => {
    const domain = await createTestDomain();
    const { organizationId } = someCaller().tenant;
    const bad = await due(domain, { organizationId, count: 7 });
    // The run exists already, so the transaction of each claim is refused.
    for (const _id of bad) await domain.runs.insertOne({ ...someRun(organizationId, _id), _id: `${_id}:2` });
    domain.pass(1);
    // Schedulers that meet in other tests refuse claims too.
    const refusedBefore = await refusedClaims();
    const good = await due(domain, { organizationId, count: 1 });
    const others = await due(domain, { organizationId: someCaller().tenant.organizationId, count: 1 });
    expect(await domain.scheduler.claimDue()).toMatchObject({ claimed: 2 });
    const started = await domain.monitors.find({ run_seq: 2 }).toArray();
    expect(started.map(({ _id }) => _id).sort()).toEqual([...good, ...others].sort());
    expect((await refusedClaims()) - refusedBefore).toBe(7);
  });

  test("because the monitor was canceled after it was read starts no run, and the rest of the batch runs", async () => {
    const domain = await createTestDomain({ environment: "live" });
    const { tenant } = someCaller("live");
    const [canceled, ...rest] = await due(domain, { organizationId: tenant.organizationId, count: 4 });
    afterRead(domain, () => domain.commands.cancel(callerIn(tenant), canceled!));
    expect(await domain.scheduler.claimDue()).toMatchObject({ due: 4, claimed: 3, lost: 1 });
    expect((await domain.monitors.find({ run_seq: 2 }).toArray()).map(({ _id }) => _id).sort()).toEqual(rest.sort());
    expect(await domain.runs.countDocuments({ monitor_id: canceled! })).toBe(0);
  });

  test("because only a newer version knows the monitor's frequency is not tried, and the others run in one transaction", async () => {
    const domain = await createTestDomain();
    const { organizationId } = someCaller().tenant;
    const unknown = await due(domain, { organizationId, count: 7 });
    await domain.monitors.updateMany({}, { $set: { frequency: "quarterly" as "hourly" } });
    const stored = () => domain.monitors.find({ _id: { $in: unknown } }, { sort: { _id: 1 } });
    const before = await stored().toArray();
    domain.pass(1);
    await due(domain, { organizationId, count: 5 });
    const committed = jest.spyOn(domain.store, "replaceScheduled");
    expect(await domain.scheduler.claimDue()).toMatchObject({ due: 5, claimed: 5 });
    expect(committed).toHaveBeenCalledTimes(1);
    domain.suspended.add(organizationId);
    expect(await domain.scheduler.claimDue()).toMatchObject({ due: 0 });
    expect(await stored().toArray()).toEqual(before);
  });

  test("of an organization that can't be served delays no other organization", async () => {
    const domain = await createTestDomain({ environment: "live" });
    const [broken, ...others] = Array.from({ length: 4 }, () => someCaller("live").tenant.organizationId);
    for (const organizationId of [broken!, ...others]) await due(domain, { organizationId, count: 1 });
    const { claimable } = domain.store;
    jest.spyOn(domain.store, "claimable").mockImplementation(async (tenant, ...rest) => {
      if (tenant.organizationId === broken) throw new Error("injected");
      return claimable(tenant, ...rest);
    });
    expect(await domain.scheduler.claimDue()).toMatchObject({ claimed: 3 });
  });

  test("for every organization is an error, so that the loop waits before it tries again", async () => {
    const domain = await createTestDomain({ environment: "live" });
    for (let index = 0; index < 3; index++)
      await due(domain, { organizationId: someCaller("live").tenant.organizationId, count: 1 });
    jest.spyOn(domain.store, "claimable").mockRejectedValue(new Error("injected"));
    await expect(domain.scheduler.claimDue()).rejects.toThrow("injected");
  });
});

describe("organizations", () => {
  test("are leased: one with many due monitors delays no other, and starts at most a batch per lease", async () => {
    const domain = await createTestDomain({ environment: "live" });
    const giant = someCaller("live").tenant.organizationId;
    const small = Array.from({ length: 5 }, () => someCaller("live").tenant.organizationId);
    await due(domain, { organizationId: giant, count: 125 });
    domain.pass(1);
    for (const organizationId of small) await due(domain, { organizationId, count: 30 });
    const started = (organizationId: string) =>
      domain.monitors.countDocuments({ organization_id: organizationId, run_seq: 2 });
    expect(await domain.scheduler.claimDue()).toEqual({ due: 200, claimed: 200, lost: 0, more: true });
    expect(await Promise.all([giant, ...small].map(started))).toEqual([50, 30, 30, 30, 30, 30]);
    expect((await domain.scheduler.claimDue()).claimed).toBe(50);
    expect((await domain.scheduler.claimDue()).claimed).toBe(25);
    expect((await domain.scheduler.claimDue()).claimed).toBe(0);
  });

  test("in the sandbox start at most five runs per lease, longest waiting first", async () => {
    const domain = await createTestDomain();
    const { organizationId } = someCaller().tenant;
    const first = await due(domain, { organizationId, count: 5 });
    domain.pass(1);
    await due(domain, { organizationId, count: 4 });
    expect((await domain.scheduler.claimDue()).claimed).toBe(5);
    expect((await domain.monitors.find({ run_seq: 2 }).toArray()).map(({ _id }) => _id).sort()).toEqual(first.sort());
    expect((await domain.scheduler.claimDue()).claimed).toBe(4);
  });

  test("in the sandbox start their first runs with the same leases, however many monitors are created together", async () => {
    const domain = await createTestDomain();
    const caller = someCaller();
    const created = Array.from({ length: 12 }, () => domain.commands.create(caller, someMonitor()));
    await Promise.all(created);
    expect(await seqs(domain)).toEqual([]);
    for (const started of [5, 10, 12]) {
      await domain.scheduler.claimDue();
      expect(await seqs(domain)).toEqual(Array(started).fill(1));
    }
    expect((await domain.scheduler.claimDue()).due).toBe(0);
  });

  test("start a first run before their late ones", async () => {
    const domain = await createTestDomain();
    const caller = someCaller();
    await due(domain, { organizationId: caller.tenant.organizationId, count: 5 });
    domain.pass(30 * SECOND);
    const { value } = await domain.commands.create(caller, someMonitor());
    await domain.scheduler.claimDue();
    expect((await domain.store.find(caller.tenant, value._id))?.run_seq).toBe(1);
    expect(await seqs(domain)).toEqual([1, 2, 2, 2, 2]);
  });

  test("are each served by one replica at a time, so no claim is wasted", async () => {
    const domain = await createTestDomain({ environment: "live" });
    const { organizationId } = someCaller("live").tenant;
    await due(domain, { organizationId, count: 5 });
    const other = await createTestDomain({ environment: "live", prefix: domain.prefix });
    other.clock.at = domain.clock.at;
    const meanwhile: unknown[] = [];
    afterRead(domain, async () => meanwhile.push(await other.scheduler.claimDue()));
    expect(await domain.scheduler.claimDue()).toMatchObject({ claimed: 5, lost: 0 });
    expect(meanwhile).toEqual([{ due: 0, claimed: 0, lost: 0, more: false }]);
  });
});

describe("while Kafka is unavailable", () => {
  test("no run starts once a request has waited for half a minute, and runs start again when it is published", async () => {
    const domain = await createTestDomain({ environment: "live" });
    await due(domain, { organizationId: someCaller("live").tenant.organizationId, count: 1 });
    const outbox = domain.db.collection("outbox");
    const held = async () =>
      (await metric("monitor_starts_held"))!.dataPoints.find(({ attributes }) => attributes.environment === "live")
        ?.value;
    await outbox.insertOne({ _id: ObjectId.createFromTime(Date.now() / 1_000 - 40) });
    expect(await domain.scheduler.claimDue()).toMatchObject({ claimed: 0 });
    expect(await held()).toBe(1);
    await outbox.deleteMany({});
    await outbox.insertOne({ _id: ObjectId.createFromTime(Date.now() / 1_000 - 20) });
    expect(await domain.scheduler.claimDue()).toMatchObject({ claimed: 1 });
    expect(await held()).toBe(0);
  });
});

describe("the monitors of a suspended organization", () => {
  test("do not run and leave the queue; after the reactivation they run at their next due time, without a burst", async () => {
    const domain = await createTestDomain();
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

test("a monitor whose organization is suspended before its first run has that when the organization goes on", async () => {
  const domain = await createTestDomain();
  const caller = someCaller();
  const { value } = await domain.commands.create(caller, someMonitor({ frequency: "hourly" }));
  domain.suspended.add(caller.tenant.organizationId);
  await domain.scheduler.claimDue();
  domain.suspended.clear();
  expect((await domain.scheduler.claimDue()).due).toBe(0);
  await domain.resumeExtras([]);
  expect((await domain.scheduler.claimDue()).claimed).toBe(1);
  expect((await domain.store.find(caller.tenant, value._id))?.run_seq).toBe(1);
  expect((await domain.scheduler.claimDue()).due).toBe(0);
  expect(await seqs(domain)).toEqual([1]);
});

test("a run that ends while its suspended organization's monitor is skipped stays ended", async () => {
  const domain = await createTestDomain();
  const { tenant, id } = await idleMonitor(domain);
  const open_run = { run_seq: 1, claimed_at: domain.clock.at };
  await domain.monitors.updateOne({ _id: id }, { $set: { open_run } });
  const seen = (await domain.store.find(tenant, id))!;
  await domain.monitors.updateOne({ _id: id }, { $unset: { open_run: true } });
  await inTransaction(domain.client, (session) =>
    domain.store.replaceScheduled(tenant, session, [{ seen, next: { ...seen, next_run_at: new Date(0) } }]),
  );
  expect((await domain.store.find(tenant, id))?.open_run).toBeUndefined();
});

describe("a cancellation", () => {
  test("that comes first leaves no run to claim", async () => {
    const domain = await createTestDomain();
    const { tenant, id } = await idleMonitor(domain);
    await domain.commands.cancel(callerIn(tenant), id);
    domain.pass(HOUR);
    expect((await domain.scheduler.claimDue()).due).toBe(0);
  });

  test("concurrent with a claim happens either before or after it, and nothing is claimed later", async () => {
    const domain = await createTestDomain();
    const monitors = await Promise.all(Array.from({ length: 20 }, () => idleMonitor(domain)));
    domain.pass(5 * SECOND);
    const [{ claimed }] = await Promise.all([
      domain.scheduler.claimDue(),
      ...monitors.map(({ tenant, id }) => domain.commands.cancel(callerIn(tenant), id)),
    ]);
    expect(await domain.runs.countDocuments({ run_seq: 2 })).toBe(claimed);
    expect(await domain.monitors.countDocuments({ status: "canceled", run_seq: 2 })).toBe(claimed);
    domain.pass(HOUR);
    expect(await domain.scheduler.claimDue()).toMatchObject({ due: 0, claimed: 0 });
  });
});

describe("what is due", () => {
  /** Runs the scheduler's searches with 10 organizations that have nothing due and 3 that have; returns MongoDB's profile of them. */
  async function examinedWith(swept: number): Promise<Document[]> {
    const domain = await createTestDomain();
    const organizations = Array.from({ length: 13 }, () => someCaller().tenant.organizationId).sort();
    const dueNow = organizations.filter((_, index) => index % 5 === 0);
    for (const organizationId of organizations) await due(domain, { organizationId, count: swept });
    await domain.monitors.updateMany({}, { $set: { standing: { run_seq: 1, since: new Date(), offset_ms: 1 } } });
    for (const organizationId of organizations) await due(domain, { organizationId, count: 20 });
    domain.pass(-SECOND);
    for (const organizationId of dueNow) await due(domain, { organizationId, count: 20 });
    // What the store asks is read from MongoDB's profile.
    await domain.db.command({ profile: 2 });
    const at = domain.clock.at;
    await domain.store.longestWaiting(at, 5);
    await domain.store.oldestDueAt(at);
    await domain.store.claimable({ organizationId: organizations[1]!, environment: "live" }, at, 5, []);
    const waiting: string[] = [];
    for await (const each of domain.store.allWaiting(at, dueNow[1]!)) waiting.push(each);
    await domain.db.command({ profile: 0 });
    expect(waiting).toEqual([dueNow[2], dueNow[0], dueNow[1]]);
    const profile = domain.db.collection("system.profile").find({ ns: /[.]monitors$/ });
    return profile.sort({ ts: 1 }).toArray();
  }

  test("is found without reading what is not due, however many monitors are swept", async () => {
    const [few, many] = [await examinedWith(1), await examinedWith(50)];
    const [longestWaiting, oldest, claimable, ...allWaiting] = few;
    expect(longestWaiting).toMatchObject({
      planSummary: "IXSCAN { standing.offset_ms: 1, claimable_at: 1 }",
      docsExamined: 5,
    });
    expect(oldest!.docsExamined).toBe(1);
    expect(claimable).toMatchObject({
      planSummary: "IXSCAN { organization_id: 1, standing.offset_ms: 1, claimable_at: 1 }",
      docsExamined: 0,
    });
    // One for each organization, and two that find no further one.
    expect(allWaiting).toHaveLength(3 + 2);
    expect(Math.max(...allWaiting.map(({ docsExamined }) => docsExamined))).toBe(1);
    const keys = (profile: Document[]) => profile.map(({ keysExamined }) => keysExamined);
    expect(keys(many)).toEqual(keys(few));
  });
});
