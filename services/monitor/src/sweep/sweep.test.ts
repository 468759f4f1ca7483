import { describe, expect, jest, test } from "@jest/globals";
import { ServiceError } from "@vvs/errors";
import { newId } from "@vvs/ids";
import { VerificationRequestedSchema } from "@vvs/proto/events/v1/events";
import type { Frequency } from "../model/frequency.ts";
import {
  callerIn,
  createTestDomain,
  HOUR,
  RUN_TIMEOUT_MS,
  SECOND,
  someCaller,
  type TestDomain,
} from "../testing/domain.ts";
import { replicaOf, standingMonitor, sweepAll } from "../testing/sweeping.ts";
import { scheduledChecks } from "./standing.ts";
import { MARGIN_MS } from "./sweep.ts";

// Each test has its own databases, so that its monitors are not swept by other tests.
const newDomain = (options: { prefix?: string } = {}) => createTestDomain({ environment: "live", ...options });

/** A replica on databases of its own, in which nothing was swept before now. No period begins within ten minutes. */
async function newReplica() {
  const replica = replicaOf(await newDomain());
  replica.domain.pass(20 * 60 * SECOND);
  await replica.sweep();
  return replica;
}

/** Another replica on the same databases, with a clock of its own. */
async function anotherReplica({ prefix, clock }: TestDomain) {
  const replica = replicaOf(await newDomain({ prefix }));
  replica.domain.clock.at = clock.at;
  return replica;
}

/** Stores standing monitors of an organization whose next checks are due from `fromMs` on, a second apart. */
async function standing(
  domain: TestDomain,
  options: { count: number; organizationId?: string; fromMs?: number; everyMs?: number; frequency?: Frequency },
): Promise<string[]> {
  const { organizationId = newId("org"), count, fromMs = 0, everyMs = SECOND, frequency = "hourly" } = options;
  const since = new Date(domain.clock.at.getTime() - HOUR);
  const monitors = Array.from({ length: count }, (_, index) => {
    const nextRunAt = new Date(domain.clock.at.getTime() + fromMs + index * everyMs);
    return standingMonitor({ organizationId, frequency, since, nextRunAt });
  });
  await domain.monitors.insertMany(monitors);
  await domain.runs.insertMany(
    monitors.map(({ _id, organization_id }) => ({
      ...{ _id: `${_id}:2`, organization_id, monitor_id: _id, run_seq: 2, claimed_at: since, ended_at: since },
      ...{ outcome: "pass" as const, verification_id: `ver_${_id}` },
    })),
  );
  return monitors.map(({ _id }) => _id);
}

const stored = (domain: TestDomain) => domain.monitors.find({}, { sort: { _id: 1 } }).toArray();
const found = async (domain: TestDomain, id: string) => (await domain.monitors.findOne({ _id: id }))!;
/** What is shown of a monitor's checks. */
const shown = async (domain: TestDomain, id: string) => {
  const positions = await domain.positions.readAll();
  const monitor = await found(domain, id);
  return scheduledChecks(monitor, positions.get(monitor.frequency));
};
/** The ids of monitors that had a run since they stood, from the records that request them. */
async function started(domain: TestDomain): Promise<string[]> {
  await domain.scheduler.claimDue();
  const requests = await domain.published("verification.requested", VerificationRequestedSchema);
  return requests.map(({ run }) => run!.monitorId);
}

describe("a scheduled check of a standing monitor", () => {
  test("that finds the same writes nothing but the position, and starts no run", async () => {
    const replica = await newReplica();
    const { domain } = replica;
    const ids = await standing(domain, { count: 3 });
    const before = await stored(domain);
    const { next_run_at } = await found(domain, ids[1]!);
    domain.pass(MARGIN_MS + 60 * SECOND);
    await sweepAll(replica);
    expect(replica.judged.map(({ _id }) => _id)).toEqual(ids);
    expect(await stored(domain)).toEqual(before);
    expect(await domain.scheduler.claimDue()).toMatchObject({ due: 0 });
    expect(await shown(domain, ids[1]!)).toMatchObject({
      nextAt: new Date(next_run_at!.getTime() + HOUR),
      confirmed: { times: 1, last_at: next_run_at },
    });
  });

  test("that finds something else becomes a run by the schedule, once", async () => {
    const replica = await newReplica();
    const { domain, findings } = replica;
    const [same, different] = await standing(domain, { count: 2 });
    findings.set(different!, "different");
    const { next_run_at } = await found(domain, different!);
    domain.pass(MARGIN_MS + 2 * HOUR);
    await sweepAll(replica);
    const due = await found(domain, different!);
    expect(due).not.toHaveProperty("standing");
    expect([due.next_run_at, due.claimable_at]).toEqual(Array(2).fill(new Date(next_run_at!.getTime() + HOUR)));
    expect(await started(domain)).toEqual([different]);
    expect((await domain.runs.findOne({ monitor_id: different!, run_seq: 3 }))?.cause).toBe("schedule");
    await sweepAll(replica);
    expect(await started(domain)).toEqual([different]);
    expect(await found(domain, same!)).toHaveProperty("standing");
  });

  test("is a run by the schedule once the period after a change is over", async () => {
    const replica = await newReplica();
    const { domain } = replica;
    const [id] = await standing(domain, { count: 1 });
    const until = new Date(domain.clock.at.getTime() + HOUR - SECOND);
    await domain.monitors.updateOne({ _id: id! }, { $set: { "standing.until": until } });
    domain.pass(MARGIN_MS);
    await sweepAll(replica);
    expect(await started(domain)).toEqual([]);
    domain.pass(HOUR);
    await sweepAll(replica);
    expect(await started(domain)).toEqual([id]);
    const run = await domain.runs.findOne({ monitor_id: id!, run_seq: 3 });
    expect(run).toMatchObject({ cause: "schedule" });
    expect((await found(domain, id!)).last_run?.confirmed).toMatchObject({ times: 1 });
  });

  test("is not made before it is due, nor again in the same period; a day's outage is caught up by one each", async () => {
    const replica = await newReplica();
    const { domain, judged } = replica;
    const ids = await standing(domain, { count: 60, everyMs: 60 * SECOND });
    const times = () => ids.map((id) => judged.filter(({ _id }) => _id === id).length);
    domain.pass(MARGIN_MS + 30 * 60 * SECOND);
    await sweepAll(replica);
    await sweepAll(replica);
    expect(times()).toEqual(ids.map((_, index) => (index <= 30 ? 1 : 0)));
    domain.pass(24.5 * HOUR + 30 * SECOND);
    await sweepAll(replica);
    expect(times()).toEqual(ids.map((_, index) => (index <= 30 ? 2 : 1)));
    expect((await shown(domain, ids[0]!)).confirmed?.times).toBe(2);
    expect((await shown(domain, ids[59]!)).confirmed?.times).toBe(1);
  });

  test("confirms nothing while the data is overdue; one pass catches up", async () => {
    const replica = await newReplica();
    const { domain, judged, findings } = replica;
    const [id, excluded] = await standing(domain, { count: 2 });
    const first = (await found(domain, id!)).next_run_at!;
    domain.pass(MARGIN_MS + 60 * SECOND);
    await sweepAll(replica);
    replica.isOverdue = true;
    findings.set(excluded!, "different");
    const before = await found(domain, id!);
    for (let hour = 0; hour < 3; hour++) {
      domain.pass(HOUR);
      await sweepAll(replica);
    }
    expect(await found(domain, id!)).toEqual(before);
    expect(await shown(domain, id!)).toMatchObject({
      nextAt: new Date(first.getTime() + 4 * HOUR),
      confirmed: { times: 1, last_at: first },
      staleSince: new Date(first.getTime() + HOUR),
    });
    expect(await started(domain)).toEqual([excluded]);
    replica.isOverdue = false;
    judged.length = 0;
    domain.pass(60 * SECOND);
    await sweepAll(replica);
    expect(judged.map(({ _id }) => _id)).toEqual([id]);
    expect(await shown(domain, id!)).toEqual({
      nextAt: new Date(first.getTime() + 4 * HOUR),
      confirmed: { times: 2, last_at: new Date(first.getTime() + 3 * HOUR), data_as_of: expect.anything() },
      staleSince: undefined,
    });
  });

  test("of more monitors than are read at once, all due in the same millisecond, is made once for each", async () => {
    const replica = await newReplica();
    const { domain, judged } = replica;
    const before = await standing(domain, { count: 1, fromMs: 1 });
    const ids = await standing(domain, { count: 2_001, fromMs: 2, everyMs: 0 });
    const after = await standing(domain, { count: 1, fromMs: 3 });
    domain.pass(MARGIN_MS + 60 * SECOND);
    await sweepAll(replica);
    expect(new Set(judged.map(({ _id }) => _id))).toEqual(new Set([...before, ...ids, ...after]));
  });
});

describe("a standing monitor has a real run", () => {
  test("once an extra run is due, as after a file; its last run keeps by which checks it was confirmed", async () => {
    const replica = await newReplica();
    const { domain } = replica;
    const [id, other] = await standing(domain, { count: 2 });
    const { entity_id, next_run_at } = await found(domain, id!);
    const load = { loadId: "load_1", changedAt: domain.clock.at, entityIds: [entity_id] };
    domain.pass(MARGIN_MS + 60 * SECOND);
    await sweepAll(replica);
    const options = { now: domain.clock.at, spreadMs: 600 * SECOND, runTimeoutMs: RUN_TIMEOUT_MS };
    expect(await domain.store.addFileRuns(load, options)).toBe(1);
    const { at } = (await found(domain, id!)).file_run!;
    expect((await found(domain, id!)).standing).toMatchObject({ run_seq: 2, until: at });
    const before = await shown(domain, id!);
    domain.clock.at = new Date(at!.getTime() - 1);
    await replica.sweep();
    expect(await started(domain)).toEqual([]);
    domain.pass(1);
    await replica.sweep();
    expect(await shown(domain, id!)).toEqual(before);
    expect(before.confirmed).toMatchObject({ times: 1, last_at: next_run_at });
    expect(await started(domain)).toEqual([id]);
    expect(await domain.runs.findOne({ monitor_id: id!, run_seq: 3 })).toMatchObject({ cause: "file" });
    expect(await found(domain, other!)).toHaveProperty("standing");
  });

  test("on the day of an expiration", async () => {
    const replica = await newReplica();
    const { domain } = replica;
    const [expiring] = await standing(domain, { count: 2 });
    const at = new Date(domain.clock.at.getTime() + 10 * SECOND);
    await domain.monitors.updateOne({ _id: expiring! }, { $set: { expiry_run_at: at, "standing.until": at } });
    domain.pass(10 * SECOND);
    await replica.sweep();
    expect(await started(domain)).toEqual([expiring]);
  });

  test("after a change; a cancellation and a change keep what was confirmed", async () => {
    const replica = await newReplica();
    const { domain } = replica;
    const { tenant } = someCaller("live");
    const [changed, canceled] = await standing(domain, { count: 2, organizationId: tenant.organizationId });
    domain.pass(MARGIN_MS + 60 * SECOND);
    await sweepAll(replica);
    const before = [await shown(domain, changed!), await shown(domain, canceled!)];
    await domain.commands.update(callerIn(tenant), changed!, { externalId: "V-1" });
    await domain.commands.cancel(callerIn(tenant), canceled!);
    expect([await shown(domain, changed!), await shown(domain, canceled!)]).toEqual([
      before[0],
      { ...before[1], nextAt: undefined },
    ]);
    expect(before[1]!.confirmed?.times).toBe(1);
    domain.clock.at = before[0]!.nextAt!;
    expect(await started(domain)).toEqual([changed]);
  });

  test("though many canceled monitors have marks that an older version left, which are removed", async () => {
    const replica = await newReplica();
    const { domain } = replica;
    const [id, ...canceled] = await standing(domain, { count: 2_001 });
    const until = domain.clock.at;
    await domain.monitors.updateMany(
      { _id: { $in: canceled } },
      {
        $set: { status: "canceled", "standing.until": until },
        $unset: { next_run_at: true, claimable_at: true, "standing.offset_ms": true },
      },
    );
    await domain.monitors.updateOne({ _id: id! }, { $set: { "standing.until": until } });
    await replica.sweep();
    expect(await domain.monitors.countDocuments({ standing: { $exists: true } })).toBe(0);
    expect(await domain.monitors.countDocuments({ next_run_at: { $exists: true } })).toBe(1);
  });

  test("after a suspension of its organization, at its next due time; others of it never count as confirmed", async () => {
    const replica = await newReplica();
    const { domain, judged } = replica;
    const [id] = await standing(domain, { count: 1 });
    const { organization_id, next_run_at } = await found(domain, id!);
    domain.suspended.add(organization_id);
    domain.pass(MARGIN_MS + 60 * SECOND);
    await sweepAll(replica);
    expect([judged, await started(domain)]).toEqual([[], []]);
    const { nextAt, confirmed } = await shown(domain, id!);
    expect([nextAt! > next_run_at!, confirmed]).toEqual([true, undefined]);
    domain.suspended.clear();
    domain.clock.at = nextAt!;
    expect(await started(domain)).toEqual([id]);
  });
});

describe("after a failure", () => {
  const faults: Record<string, (replica: ReturnType<typeof replicaOf>) => { mockRestore(): void } | undefined> = {
    "before judging": (replica) => {
      replica.beforeJudging = async () => {
        replica.beforeJudging = async () => undefined;
        throw new ServiceError("service_unavailable");
      };
      return undefined;
    },
    "before the different ones are noted": ({ domain }) => {
      const { end } = domain.standing;
      return jest
        .spyOn(domain.standing, "end")
        .mockImplementation((ended) => (ended.length > 0 ? killed() : end(ended)));
    },
    "before the position moves": ({ domain }) => {
      const { move } = domain.positions;
      return jest
        .spyOn(domain.positions, "move")
        .mockImplementation((seen, next) => (seen._id === "hourly" ? killed() : move(seen, next)));
    },
    "before the answer to the move of the position": ({ domain }) => {
      const { move } = domain.positions;
      return jest.spyOn(domain.positions, "move").mockImplementation(async (seen, next) => {
        const moved = await move(seen, next);
        return seen._id === "hourly" ? killed() : moved;
      });
    },
  };
  const killed = () => Promise.reject(new Error("killed"));

  test.each(Object.keys(faults))(
    "%s, another replica makes the checks, and each difference is one run",
    async (name) => {
      const replica = await newReplica();
      const { domain } = replica;
      const [same, different] = await standing(domain, { count: 2 });
      const next = replicaOf(await newDomain({ prefix: domain.prefix }));
      for (const each of [replica, next]) {
        each.findings.set(different!, "different");
        each.domain.pass(MARGIN_MS + 60 * SECOND);
      }
      const spies = [faults[name]!(replica)].flatMap((spy) => spy ?? []);
      await expect(replica.sweep()).rejects.toThrow();
      for (const spy of spies) spy.mockRestore();
      await started(domain); // as a scheduler of any replica does meanwhile
      await sweepAll(next);
      await sweepAll(replica);
      expect(await started(domain)).toEqual([different]);
      expect((await shown(domain, same!)).confirmed?.times).toBe(1);
      expect((await shown(domain, different!)).confirmed).toBeUndefined();
    },
  );

  test("a replica whose lease was lost in the middle moves nothing back, and its differences are runs once", async () => {
    const slow = await newReplica();
    const { domain } = slow;
    const [same, different] = await standing(domain, { count: 2 });
    const fast = await anotherReplica(domain);
    for (const each of [slow, fast]) {
      each.findings.set(different!, "different");
      each.domain.pass(MARGIN_MS + 60 * SECOND);
    }
    slow.beforeJudging = async () => {
      slow.held = [];
      await sweepAll(fast);
      fast.domain.pass(2 * HOUR);
      await sweepAll(fast);
    };
    expect(await slow.sweep()).toBe(false);
    expect((await shown(domain, same!)).confirmed?.times).toBe(2);
    expect(await started(domain)).toEqual([different]);
    expect(await slow.sweep()).toBe(false);
    expect(slow.judged).toHaveLength(2);
  });

  test("two replicas that both sweep make each difference one run", async () => {
    const replica = await newReplica();
    const { domain } = replica;
    const ids = await standing(domain, { count: 50 });
    const others = await Promise.all([1, 2].map(() => anotherReplica(domain)));
    const all = [replica, ...others];
    for (const each of all) {
      for (const id of ids.slice(0, 20)) each.findings.set(id, "different");
      each.domain.pass(MARGIN_MS + 60 * SECOND);
    }
    await Promise.all(all.map(sweepAll));
    await Promise.all(all.map((each) => each.domain.scheduler.claimDue()));
    expect((await started(domain)).toSorted()).toEqual(ids.slice(0, 20).toSorted());
    expect((await shown(domain, ids[49]!)).confirmed?.times).toBe(1);
  });

  test("a clock a minute ahead makes no check early enough to miss a run that has just ended", async () => {
    const ahead = await newReplica();
    const { domain } = ahead;
    ahead.domain.pass(60 * SECOND);
    await sweepAll(ahead);
    const position = (await domain.positions.readAll()).get("hourly")!;
    const trueNow = domain.clock.at.getTime() - 60 * SECOND;
    // A run that ends now makes a monitor stand if its next check is due later than now.
    expect(position.swept_to.getTime()).toBeLessThan(trueNow);
    const behind = await anotherReplica(domain);
    behind.domain.pass(-60 * SECOND);
    await sweepAll(behind);
    expect((await domain.positions.readAll()).get("hourly")).toEqual(position);
  });
});
