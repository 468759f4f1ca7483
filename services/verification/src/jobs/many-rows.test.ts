import { randomUUID } from "node:crypto";
import { expect, test } from "@jest/globals";
import { JobStatus, RowOutcome } from "@vvs/proto/verification/v1/jobs";
import { passing, testProvider } from "../testing/calls.ts";
import { jobsOf } from "../testing/jobs.ts";
import { startTestService } from "../testing/service.ts";
import { type JobDocument, jobCollections, migrateJobs, type RowDocument, rowId } from "./documents.ts";

// An organization with as many open rows as the largest plan allows. They are put into the database as their jobs would be.

const OPEN_ROWS = 100_000;
const JOB_ROWS = 9_999;

/** The organizations of the vendors that were asked about, in order. */
const asked: string[] = [];
const provider = testProvider("sam_gov_extract", "sam_registration", async ({ tenant }) => {
  asked.push(tenant.organizationId);
  return passing();
});
const service = await startTestService({ live: [provider] });
service.entities.schedule.resolve = (_identifiers, entityId) => entityId;

function organization() {
  const organizationId = `org_${randomUUID()}`;
  service.entities.put(organizationId, "ent_1", { subject: { legalName: "V", uei: "VENDOR000001" } });
  const ours = jobsOf(service, organizationId);
  return {
    ...ours,
    organizationId,
    add: (count: number) => ours.add(Array.from({ length: count }, () => ({ entityId: "ent_1" }))),
    start: (jobId: string, total: number) => ours.startAdded(jobId, total, { openRows: OPEN_ROWS }),
    status: async (jobId: string) => (await ours.job(jobId)).status,
  };
}

/** Puts a started job with open rows into the database. Every tenth row has an answer already. */
async function putJob(organizationId: string, index: number, rows = JOB_ROWS): Promise<string> {
  const at = new Date(Date.now() - 60_000 + index);
  const jobs = jobCollections(service.databases.live);
  const [id, of] = [`job_${randomUUID()}`, { organization_id: organizationId }];
  const documents: RowDocument[] = Array.from({ length: rows }, (_, row) => ({
    ...{ _id: rowId(id, row + 1), ...of, job_id: id, row: row + 1, input: { entity_id: "ent_1" }, due_at: at },
    ...(row % 10 === 0 && { result: { outcome: "waiting", decision: "review" } }),
  }));
  await jobs.rows.insertMany(documents, { ordered: false });
  const job: JobDocument = {
    ...{ _id: id, ...of, status: "queued", actor: "key_1", request_id: "req_1", created_at: at, next_at: at },
    ...{ total: rows, checks: ["sam_registration"], mode: "realtime", expires_at: new Date("2099-01-01") },
  };
  await jobs.jobs.insertOne(job);
  return id;
}

test("MongoDB examines no row of a job that is done, and none of another job, to find the next ones", async () => {
  const { rows } = jobCollections(service.databases.live);
  const { add, start, status } = organization();
  const id = await add(2_000);
  const find = { ns: rows.namespace, "command.find": { $exists: true } };
  await service.databases.live.command({ profile: 1, filter: find });
  await start(id, 2_000);
  while ((await status(id)) !== JobStatus.COMPLETED) await service.jobs.live.work();
  await service.databases.live.command({ profile: 0, filter: "unset" });
  const profile = service.databases.live.collection("system.profile");
  const reads = await profile.find().toArray();
  await profile.drop();
  expect(reads.length).toBeGreaterThan(5);
  for (const { docsExamined, nreturned } of reads) expect(docsExamined).toBe(nreturned);
}, 60_000);

test("100,000 open rows: the cap is exact, pages read what they show, and another organization's job is done meanwhile", async () => {
  const [large, small] = [organization(), organization()];
  const ids: string[] = [];
  for (let index = 0; index < 10; index++) ids.push(await putJob(large.organizationId, index));
  // 10 rows are left, for two of these.
  const starting = await Promise.all(Array.from({ length: 4 }, () => large.add(5)));
  const started = await Promise.allSettled(starting.map((id) => large.start(id, 5)));
  expect(started.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
  for (const each of started) {
    if (each.status === "rejected") expect(each.reason).toMatchObject({ code: "too_many_rows" });
  }
  const { rows } = jobCollections(service.databases.live);
  const open = { organization_id: large.organizationId, due_at: { $exists: true } };
  const startedIds = starting.filter((_, index) => started[index]!.status === "fulfilled");
  expect(await rows.countDocuments({ ...open, job_id: { $in: [...ids, ...startedIds] } })).toBe(OPEN_ROWS);

  const { live } = service.databases;
  await live.command({ profile: 2 });
  const page = await large.results(ids[9]!, { afterRow: 5_000, limit: 100 });
  expect([page.length, page[0]!.outcome]).toEqual([100, RowOutcome.WAITING]);
  expect(await large.job(ids[9]!)).toMatchObject({ counts: { waiting: 1_000 } });
  await live.command({ profile: 0 });
  const [read, counted] = await live
    .collection("system.profile")
    .find({ ns: rows.namespace })
    .sort({ ts: 1 })
    .map(({ docsExamined }) => docsExamined as number)
    .toArray();
  // Every tenth row has a result; counting reads one job.
  expect(read).toBeLessThanOrEqual(1_100);
  expect(counted).toBe(JOB_ROWS);

  const id = await small.add(10);
  await small.start(id, 10);
  await service.jobs.live.work();
  expect(await small.status(id)).toBe(JobStatus.COMPLETED);
  expect(await large.status(ids[9]!)).toBe(JobStatus.QUEUED);
  expect(asked).toContain(large.organizationId);
}, 120_000);

test("organizations take turns, however many jobs the others sent before", async () => {
  const many = Array.from({ length: 4 }, organization);
  for (const { organizationId } of many) {
    for (let index = 0; index < 30; index++) await putJob(organizationId, index - 60_000, 1);
  }
  const late = organization();
  const id = await late.add(1);
  await late.start(id, 1);
  await service.jobs.live.work();
  await service.jobs.live.work();
  expect(await late.status(id)).toBe(JobStatus.COMPLETED);
}, 60_000);

test("the migration replaces the index of open rows that an earlier version made, and may run again", async () => {
  const { live } = service.databases;
  const { rows } = jobCollections(live);
  const indexes = await rows.indexes();
  await rows.dropIndex("open_rows");
  // As it was made: a filter that no row matches.
  const filter = { partialFilterExpression: { next_at: { $exists: true } } };
  await rows.createIndex({ job_id: 1, due_at: 1, _id: 1 }, { partialFilterExpression: filter });
  for (const _ of [1, 2]) await migrateJobs(live);
  const names = (all: typeof indexes) => all.map(({ name }) => name).toSorted();
  expect(names(await rows.indexes())).toEqual(names(indexes));
});
