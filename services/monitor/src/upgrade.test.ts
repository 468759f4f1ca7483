import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { CheckStatus, CheckType } from "@vvs/proto/common/v1/common";
import { VerificationRequestedSchema } from "@vvs/proto/events/v1/events";
import { migrate } from "./migrate.ts";
import type { MonitorDocument, RunDocument } from "./model/monitor.ts";
import { createTestDomain, HOUR, SECOND, someCaller, type TestDomain } from "./testing/domain.ts";
import { completedRun } from "./testing/records.ts";

// What the version before checks in bulk stored goes on in this one: its documents are written here as it wrote them.

let domain: TestDomain;
beforeAll(async () => {
  domain = await createTestDomain({ uri: process.env.MONGODB_URI!, environment: "live" });
});
afterAll(() => domain.close());
beforeEach(() => domain.pass(24 * HOUR));

const { tenant } = someCaller("live");
const ago = (ms: number) => new Date(domain.clock.at.getTime() - ms);

/** Stores an hourly monitor after its sixth run, as that version did. */
async function stored(change: object = {}): Promise<string> {
  const _id = newId("mon");
  const frequency = "hourly";
  const next_run_at = ago(-HOUR);
  await domain.monitors.insertOne({
    _id,
    organization_id: tenant.organizationId,
    entity_id: newId("ent"),
    checks: ["sam_registration"],
    frequency,
    status: "active",
    created_at: ago(10 * HOUR),
    created_by: "key_1",
    created_as: { frequency, next_run_at: ago(9 * HOUR) },
    run_seq: 6,
    claimed_at: ago(HOUR),
    last_due_at: ago(HOUR),
    next_run_at,
    claimable_at: next_run_at,
    last_run: { run_seq: 6, at: ago(HOUR), outcome: "pass", verification_id: newId("ver") },
    consecutive_errors: 0,
    event_count: 1,
    published_status: "active",
    ...change,
  } as MonitorDocument);
  return _id;
}

const found = async (id: string) => (await domain.monitors.findOne({ _id: id }))!;

/** Claims all due runs. Returns the causes of this monitor's new ones, which are also requested. */
async function claimed(id: string): Promise<RunDocument["cause"][]> {
  while ((await domain.scheduler.claimDue()).claimed > 0);
  const runs = await domain.runs.find({ monitor_id: id, ended_at: { $exists: false } }).toArray();
  const requests = await domain.published("verification.requested", VerificationRequestedSchema);
  const requested = requests.filter(({ run }) => run?.monitorId === id).map(({ recordId }) => recordId);
  expect(requested.slice(requested.length - runs.length)).toEqual(runs.map(({ _id }) => _id));
  return runs.map(({ cause }) => cause);
}

/** Ends a run by a record of verification: of the version before without a digest. */
async function end(id: string, runSeq: number, digest = "") {
  const parts = { registration: { expirationDate: "2099-12-31" }, exclusions: { exclusions: [] } };
  const shared = { checkType: CheckType.SAM_REGISTRATION, status: CheckStatus.PASS, parts };
  const checks = [{ ...shared, digest: Buffer.from(digest) }];
  const record = completedRun({ tenant, id }, { seq: runSeq, at: domain.clock.at, checks });
  await domain.records.verificationCompleted(record);
  await domain.records.verificationCompleted(record);
}

test("a run in flight ends by its record, and the monitor stands after two runs of this version", async () => {
  const claimed_at = ago(60 * SECOND);
  const id = await stored({ run_seq: 7, open_run: { run_seq: 7, claimed_at }, claimed_at });
  const run = { _id: `${id}:7`, organization_id: tenant.organizationId, monitor_id: id, run_seq: 7, claimed_at };
  await domain.runs.insertOne({ ...run, cause: "schedule" });
  await end(id, 7);
  expect(await found(id)).toMatchObject({ run_seq: 7, last_run: { run_seq: 7, outcome: "pass" } });
  for (const runSeq of [8, 9, 10]) {
    expect(await found(id)).not.toHaveProperty("standing");
    domain.pass(2 * HOUR);
    expect(await claimed(id)).toEqual(["schedule"]);
    // Verification may be of the version before for longer.
    await end(id, runSeq, runSeq > 8 ? "digest" : "");
  }
  expect((await found(id)).standing).toMatchObject({ run_seq: 10, offset_ms: expect.any(Number) });
  domain.pass(2 * HOUR);
  expect(await claimed(id)).toEqual([]);
});

test("the migration drops the indexes that only that version used, and the search for due monitors has its own", async () => {
  const names = async () => (await domain.monitors.indexes()).map(({ name }) => name);
  const earlier = ["claimable_at_1", "organization_id_1_claimable_at_1"];
  await domain.monitors.createIndexes([{ key: { claimable_at: 1 } }, { key: { organization_id: 1, claimable_at: 1 } }]);
  expect(await names()).toEqual(expect.arrayContaining(earlier));
  await Promise.all([1, 2].map(() => migrate(domain)));
  expect((await names()).filter((name) => name?.endsWith("claimable_at_1"))).toEqual([
    "standing.offset_ms_1_claimable_at_1",
    "organization_id_1_standing.offset_ms_1_claimable_at_1",
  ]);
});

test.each<[RunDocument["cause"], () => object]>([
  ["expiry", () => ({ expiry_run_at: ago(SECOND) })],
  ["exclusion", () => ({ exclusion_run_at: ago(SECOND) })],
  ["file", () => ({ file_run: { load_id: "registry:1", changed_at: ago(HOUR), at: ago(SECOND) } })],
])("an extra run that is due (%s) is made once, and the schedule stays", async (cause, extra) => {
  const id = await stored({ ...extra(), claimable_at: ago(SECOND) });
  const { next_run_at } = await found(id);
  expect(await claimed(id)).toEqual([cause]);
  await end(id, 7);
  expect(await claimed(id)).toEqual([]);
  expect(await found(id)).toMatchObject({ run_seq: 7, next_run_at });
});

test("a file that a run of that version saw by its clock has one run more, and no second one", async () => {
  const id = await stored();
  const { entity_id } = await found(id);
  const load = { loadId: "registry:2", changedAt: ago(2 * HOUR), entityIds: [entity_id] };
  const now = domain.clock.at;
  const add = () => domain.store.addFileRuns(load, { now, spreadMs: 0, runTimeoutMs: 600 * SECOND });
  expect([await add(), await add()]).toEqual([1, 0]);
  domain.pass(SECOND);
  expect(await claimed(id)).toEqual(["file"]);
});
