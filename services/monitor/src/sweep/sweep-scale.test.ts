import { create } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { VerificationRequestedSchema } from "@vvs/proto/events/v1/events";
import { JudgeRunsResponseSchema, RunJudgement } from "@vvs/proto/verification/v1/verification";
import { commandsDuring, monitored, total } from "../../../../test/support/command-counts.ts";
import { periodsMs } from "../model/frequency.ts";
import type { MonitorDocument } from "../model/monitor.ts";
import { spreadMs } from "../model/spread.ts";
import { createTestDomain, HOUR, type TestDomain } from "../testing/domain.ts";
import { replicaOf, standingMonitor, sweepAll } from "../testing/sweeping.ts";
import { createJudge } from "./judge.ts";

// What the sweep does and costs for very many organizations, and beside one that has half of all monitors. Counts only.

const DAY = 24 * HOUR;
const ORGANIZATIONS = 10_000;
/** Number of daily monitors of all small organizations together, and of the large one. */
const HALF = 2 * ORGANIZATIONS;
/** Monitors that are read at once, and the commands for them, whoever they belong to: where some differ, too. */
const LOT = 2_000;
const COMMANDS_PER_LOT = 5;
/** Commands of the rounds of all frequencies. */
const OTHER_COMMANDS = 20;
/** All watch the same vendors. */
const VENDORS = 1_000;
/** At each check, one monitor in this many differs. */
const DIFFERENT_EACH = 1_000;
const { SAME, DIFFERENT } = RunJudgement;

const live = await createTestDomain({ uri: monitored(process.env.MONGODB_URI!), environment: "live" });
const sandbox = await createTestDomain({ prefix: live.prefix });

/** Stores monitors that stand, with the schedule that their ids give them and a digest of their own. */
async function addStanding(domain: TestDomain, count: number, organizationOf: (index: number) => string) {
  const { at } = domain.clock;
  const monitors = Array.from({ length: count }, (_, index) => {
    const id = newId("mon");
    const nextRunAt = new Date(Math.ceil(at.getTime() / DAY) * DAY + spreadMs(id, periodsMs.daily));
    const of = { organizationId: organizationOf(index), entityId: `ent_${index % VENDORS}` };
    return standingMonitor({ ...of, id, digest: digestOf(id), frequency: "daily", since: at, nextRunAt });
  });
  await domain.monitors.insertMany(monitors, { ordered: false });
  return monitors;
}

const digestOf = (id: string) => Buffer.from(id).toString("hex");
const rowOf = ({ organization_id, entity_id, _id }: Pick<MonitorDocument, "organization_id" | "entity_id" | "_id">) =>
  [organization_id, entity_id, digestOf(_id)].join();

test("a day's checks of 10,000 organizations' monitors are made once each, as cheaply beside one with half of all", async () => {
  const judged: string[] = [];
  const different = new Set<string>();
  const judge = createJudge({
    judgeRuns: async ({ runs = [] }) => {
      const rows = runs.map(({ organizationId, entityId, digest }) =>
        [organizationId, entityId, Buffer.from(digest!).toString("hex")].join(),
      );
      judged.push(...rows);
      return create(JudgeRunsResponseSchema, {
        judgements: rows.map((row) => (different.has(row) ? DIFFERENT : SAME)),
      });
    },
  });
  const replica = replicaOf(live, judge);
  const { clock } = live;
  await sweepAll(replica);
  const ids = Array.from({ length: ORGANIZATIONS }, () => newId("org"));
  const monitors = await addStanding(live, HALF, (index) => ids[index % ORGANIZATIONS]!);
  await addStanding(sandbox, 1_000, (index) => ids[index]!);

  /** Lets days pass without a sweep, and makes the checks that are due then. */
  async function checksAfter(days: number): Promise<void> {
    clock.at = new Date(Math.ceil(clock.at.getTime() / DAY) * DAY + days * DAY + HOUR);
    judged.length = 0;
    const standing = monitors.filter((each) => !different.has(rowOf(each)));
    const found = standing.filter((_, index) => index % DIFFERENT_EACH === 0);
    for (const each of found) different.add(rowOf(each));
    const counts = await commandsDuring([live.client], () => sweepAll(replica));
    expect(judged.toSorted()).toEqual(standing.map(rowOf).toSorted());
    while ((await live.scheduler.claimDue()).due > 0);
    const requested = await live.published("verification.requested", VerificationRequestedSchema);
    const started = requested.map(({ tenant, entityId, run }) =>
      rowOf({ organization_id: tenant!.organizationId, entity_id: entityId, _id: run!.monitorId }),
    );
    // Each difference is a run of its own organization.
    expect(started.toSorted()).toEqual(found.map(rowOf).toSorted());
    await live.db.collection("outbox").deleteMany({});
    await live.monitors.deleteMany({ standing: { $exists: false } });
    expect(total(counts)).toBeLessThanOrEqual(COMMANDS_PER_LOT * Math.ceil(standing.length / LOT) + OTHER_COMMANDS);
  }

  await checksAfter(1);
  const large = newId("org");
  monitors.push(...(await addStanding(live, HALF, () => large)));
  await checksAfter(1);
  await checksAfter(3);
  expect(await sandbox.monitors.countDocuments({ standing: { $exists: true } })).toBe(1_000);
}, 120_000);
