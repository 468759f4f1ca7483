import { randomBytes, randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { ServiceError } from "@vvs/errors";
import { newId } from "@vvs/ids";
import { CheckType } from "@vvs/proto/common/v1/common";
import { CreateMonitorResponseSchema } from "@vvs/proto/monitor/v1/monitor";
import { Decision, JobStatus, RowOutcome } from "@vvs/proto/verification/v1/jobs";
import { Mode } from "@vvs/proto/verification/v1/verification";
import { ProviderError } from "../providers/provider.ts";
import { passing, testProvider } from "../testing/calls.ts";
import { jobsOf } from "../testing/jobs.ts";
import { startTestService } from "../testing/service.ts";

// Jobs on a real MongoDB, beside a simulated entity service and a simulated provider. The test itself runs the workers.

const NAMES = Object.fromEntries(
  Object.entries(RowOutcome).map(([name, number]) => [number, name.toLowerCase()]),
) as Record<number, string>;

const receiptKeys = [{ id: "k1", key: randomBytes(32) }];

let clockMs = 0;
const now = () => new Date(Date.now() + clockMs);
const asked: string[] = [];
let answer: (uei: string) => "pass" | "fail" | "throw" = () => "pass";
let beforeAnswer: (uei: string) => Promise<unknown> = async () => undefined;
const createdMonitors: string[] = [];
let limitMonitors = Number.POSITIVE_INFINITY;

const provider = testProvider("sam_gov_extract", "sam_registration", async ({ uei }) => {
  asked.push(uei);
  await beforeAnswer(uei);
  const outcome = answer(uei);
  if (outcome === "throw") throw new ProviderError("timeout");
  return passing({ outcome, reason: outcome === "fail" ? "expired" : "", dataDate: now() });
});

const monitors = {
  async createMonitor({
    entityId = "",
    externalId,
    unlessExists,
  }: {
    entityId?: string;
    externalId?: string;
    unlessExists?: boolean;
  }) {
    const monitor = { id: entityId.replace("ent_", "mon_") };
    if (externalId === "123456780")
      throw new ServiceError("invalid_request", { details: [{ path: "external_id", message: "is the TIN" }] });
    if (unlessExists && createdMonitors.includes(entityId)) return create(CreateMonitorResponseSchema, { monitor });
    if (createdMonitors.length >= limitMonitors)
      throw new ServiceError("limit_exceeded", { message: "No more monitors." });
    createdMonitors.push(entityId);
    return create(CreateMonitorResponseSchema, { monitor });
  },
} as never;

const service = await startTestService({ live: [provider], now, monitors, receiptKeys });
const other = await startTestService({ live: [provider], now, monitors, prefix: service.prefix });

let organizationId = "";
let ours: ReturnType<typeof jobsOf>;
beforeEach(() => {
  organizationId = newId("org");
  ours = jobsOf(service, organizationId);
  clockMs = 0;
  asked.length = 0;
  createdMonitors.length = 0;
  limitMonitors = Number.POSITIVE_INFINITY;
  answer = () => "pass";
  beforeAnswer = async () => undefined;
  for (const { entities } of [service, other]) {
    entities.schedule.resolve = (identifiers, entityId) => {
      const uei = identifiers?.uei ?? "";
      if (uei.startsWith("TWICE"))
        throw new ServiceError("ambiguous_match", { candidates: [{ id: "ent_1", legalName: "A", confidence: 1 }] });
      if (uei.startsWith("OTHER")) throw new ServiceError("entity_exists", { entityId: "ent_2" });
      if (uei.startsWith("FULL")) throw new ServiceError("limit_exceeded");
      if (uei.startsWith("DOWN")) throw new ServiceError("service_unavailable");
      const id = entityId || `ent_${uei}`;
      entities.put(organizationId, id, { subject: { legalName: `Company ${uei}`, uei: uei || "NAMEDNAMED12" } });
      return id;
    };
  }
});

const uei = (number: number, prefix = "V") => `${prefix}${String(number).padStart(12 - prefix.length, "0")}`;
const outcomes = async (jobId: string) => (await ours.results(jobId)).map(({ outcome }) => NAMES[outcome]);
/** The number of rows that are stored of the organization. */
const storedRows = () =>
  service.databases.live.collection("job_rows").countDocuments({ organization_id: organizationId });
const work = (by = service) => by.jobs.live.work();

test("every row of a list gets the answer of a verification, in the order given", async () => {
  answer = (vendor) => (vendor === uei(2) ? "fail" : "pass");
  const id = await ours.start([1, 2, 3].map((each) => ({ identifiers: { uei: uei(each) }, externalId: `V-${each}` })));
  expect(await ours.job(id)).toMatchObject({ status: JobStatus.QUEUED, total: 3, done: 0, fileRows: false });
  await work();
  expect(await ours.job(id)).toMatchObject({
    status: JobStatus.COMPLETED,
    done: 3,
    counts: { pass: 2, fail: 1 },
    pay: 2,
    hold: 1,
  });
  const found = await ours.results(id);
  expect(found.map(({ row, externalId, decision }) => [row, externalId, decision])).toEqual([
    [1, "V-1", 1],
    [2, "V-2", 2],
    [3, "V-3", 1],
  ]);
  expect(found[1]!.verification).toMatchObject({ entityId: `ent_${uei(2)}`, results: [{ reason: "expired" }] });
  expect(await ours.results(id, { outcome: RowOutcome.FAIL })).toHaveLength(1);
  expect((await ours.results(id, { decision: Decision.PAY })).map(({ row }) => row)).toEqual([1, 3]);
  const page = await service.jobClient.listJobResults({ caller: ours.caller, jobId: id, limit: 2 });
  expect([page.results.length, page.nextRow]).toEqual([2, 2]);
  expect((await ours.results(id, { afterRow: 2 })).map(({ row }) => row)).toEqual([3]);
});

test("rows get their answers where direct calls stored the first ones about their vendors meanwhile", async () => {
  const vendors = [1, 2, 3, 4].map((each) => ({ identifiers: { uei: uei(each) } }));
  const stored = Promise.withResolvers<void>();
  beforeAnswer = async (vendor) => {
    const isDirect = asked.filter((each) => each === vendor).length > 1;
    if (isDirect) return;
    await service.client.verify({
      ...{ caller: ours.caller, checks: [CheckType.SAM_REGISTRATION], mode: Mode.REALTIME },
      target: { case: "vendor", value: { identifiers: { uei: vendor } } },
    });
    if (asked.length === 2 * vendors.length) stored.resolve();
    await stored.promise;
  };
  const id = await ours.start(vendors);
  await work();
  expect(await outcomes(id)).toEqual(["pass", "pass", "pass", "pass"]);
  const found = await ours.results(id);
  const evidenceIds = found.flatMap(({ verification }) => verification!.results.map((each) => each.evidenceId));
  const own = { organization_id: organizationId };
  expect(await service.databases.live.collection("verifications").countDocuments(own)).toBe(2 * vendors.length);
  const latest = await service.databases.live.collection("latest_answers").find(own).toArray();
  expect(latest.map((each) => each.answer._id).toSorted()).toEqual(evidenceIds.toSorted());
});

test("what can't be verified is told with the row, and the others go on", async () => {
  const named = ["TWICE", "OTHER", "FULL", "V"].map((prefix) => ({ identifiers: { uei: uei(1, prefix) } }));
  const bad = { identifiers: {}, problems: [{ path: "identifiers.uei", message: "must be 12 letters and digits" }] };
  const id = await ours.start([...named, bad, { legalName: "Nobody" }]);
  await work();
  expect(await outcomes(id)).toEqual(["ambiguous", "conflict", "limit_exceeded", "pass", "invalid", "not_found"]);
  expect((await ours.results(id)).map(({ decision }) => decision)).toEqual([3, 3, 3, 1, 3, 3]);
  expect(await ours.job(id)).toMatchObject({ status: JobStatus.COMPLETED, done: 6 });
});

test("a row with a name only is looked up: a certain match is verified and monitored, any other is only reported, and nothing is created", async () => {
  const candidates = [0.8, 0.7].map((confidence) => ({ id: `ent_${confidence}`, legalName: "Sure Inc", confidence }));
  const found = {
    Sure: { entity: { id: "ent_sure" }, confidence: 0.95 },
    Unsure: { entity: { id: "ent_unsure", legalName: "Sure Inc" }, confidence: 0.949 },
    Several: { candidates },
  };
  service.entities.schedule.lookUp = ({ legalName }) => found[legalName as keyof typeof found];
  const monitor = { frequency: "daily", webhookUrl: "", activeLimit: 10 };
  const id = await ours.start(
    Object.keys(found).map((legalName) => ({ legalName })),
    { monitor },
  );
  await work();
  const [sure, unsure, several] = await ours.results(id);
  expect(sure).toMatchObject({ outcome: RowOutcome.PASS, entityId: "ent_sure", monitorId: "mon_sure" });
  const ambiguous = { outcome: RowOutcome.AMBIGUOUS, decision: Decision.REVIEW, entityId: "", monitorId: "" };
  expect(unsure).toMatchObject({
    ...ambiguous,
    candidates: [{ id: "ent_unsure", legalName: "Sure Inc", confidence: 0.949 }],
  });
  expect(several).toMatchObject({ ...ambiguous, candidates });
  expect(createdMonitors).toEqual(["ent_sure"]);
  expect(asked).toHaveLength(1);
});

test("a repeated row gets the result of the first and is asked once", async () => {
  const same = { identifiers: { uei: uei(1) } };
  const id = await ours.start([same, { identifiers: { uei: uei(2) } }, { ...same, sameAs: 1, externalId: "again" }]);
  await work();
  expect(asked.toSorted()).toEqual([uei(1), uei(2)]);
  expect(await outcomes(id)).toEqual(["pass", "pass", "pass"]);
  expect((await ours.results(id))[2]).toMatchObject({ row: 3, externalId: "again", entityId: `ent_${uei(1)}` });
  expect(await ours.job(id)).toMatchObject({ status: JobStatus.COMPLETED, done: 3, counts: { pass: 3 } });
});

test("a check without a configured provider is an error immediately, also where its input is missing", async () => {
  const id = await ours.start([{ identifiers: { uei: uei(1) } }], { checks: [CheckType.TIN_MATCH] });
  await work();
  expect(await ours.job(id)).toMatchObject({ status: JobStatus.COMPLETED, counts: { error: 1 } });
  expect((await ours.results(id))[0]).toMatchObject({ verification: { results: [{ reason: "not_configured" }] } });
});

test("a row that no source can answer waits, is asked again, and has no verification before it is answered", async () => {
  answer = () => "throw";
  const id = await ours.start([{ identifiers: { uei: uei(1) } }]);
  await work();
  expect(await outcomes(id)).toEqual(["waiting"]);
  expect(await ours.job(id)).toMatchObject({ status: JobStatus.RUNNING, done: 0, counts: { waiting: 1 } });
  expect((await ours.results(id))[0]!.verification).toBeUndefined();
  answer = () => "pass";
  await work();
  expect(await outcomes(id)).toEqual(["waiting"]);
  clockMs = 61_000;
  await work();
  expect(await outcomes(id)).toEqual(["pass"]);
});

test("cells of a file are kept with every row until the job is removed, and read only if asked for", async () => {
  const columns = ["UEI", "Buyer"];
  const cells = (number: number) => [uei(number), `Buyer ${number}`];
  const id = await ours.start(
    [
      { identifiers: { uei: uei(1) }, cells: cells(1) },
      { identifiers: { uei: uei(1) }, cells: cells(2), sameAs: 1 },
      { problems: [{ path: "UEI", message: "is odd" }], cells: cells(3) },
    ],
    { columns },
  );
  const read = async (more = {}) => (await ours.results(id, { wholeRows: true, ...more })).map((row) => row.cells);
  const all = [1, 2, 3].map(cells);
  // Two have no outcome yet.
  expect(await read()).toEqual(all);
  expect(await read({ outcome: RowOutcome.INVALID })).toEqual([cells(3)]);
  await work();
  expect(await ours.job(id)).toMatchObject({ columns, fileRows: true });
  expect(await read()).toEqual(all);
  expect((await ours.results(id)).map((row) => [row.outcome, row.cells])).toEqual([
    [RowOutcome.PASS, []],
    [RowOutcome.PASS, []],
    [RowOutcome.INVALID, []],
  ]);
  clockMs = 32 * 24 * 3_600_000;
  await service.jobs.live.removeAged();
  expect(await service.databases.live.collection("job_rows").countDocuments({ job_id: id })).toBe(0);
});

test("a page of rows with long cells is shorter, and none is left out", async () => {
  const cells = ["x".repeat(90_000)];
  const id = await ours.start(
    Array.from({ length: 20 }, () => ({ problems: [{ path: "row", message: "is odd" }], cells })),
    { columns: ["A"] },
  );
  const sizes: number[] = [];
  const read: number[] = [];
  for (let afterRow = 0; read.length === 0 || afterRow > 0; ) {
    const page = await service.jobClient.listJobResults({
      caller: ours.caller,
      jobId: id,
      limit: 100,
      wholeRows: true,
      afterRow,
    });
    sizes.push(page.results.length);
    read.push(...page.results.map(({ row }) => row));
    afterRow = page.nextRow;
  }
  expect(sizes).toEqual([6, 6, 6, 2]);
  expect(read).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
});

test("TINs are stored sealed, reach the check, and are gone once the row is answered", async () => {
  const id = await ours.start([{ identifiers: { uei: uei(1), tin: "123456780" }, legalName: "Acme" }]);
  const rows = service.databases.live.collection("job_rows");
  const stored = JSON.stringify(await rows.find({ job_id: id }).toArray());
  expect(stored).not.toContain("123456780");
  expect(stored).toContain("box");
  const tins: string[] = [];
  service.entities.schedule.resolved = async (tin) => void tins.push(tin);
  await work();
  delete service.entities.schedule.resolved;
  expect(tins).toEqual(["123456780"]);
  expect(JSON.stringify(await rows.find({ job_id: id }).toArray())).not.toContain("box");
});

test("two replicas that work at the same time give each row one verification", async () => {
  const id = await ours.start(Array.from({ length: 300 }, (_, index) => ({ identifiers: { uei: uei(index) } })));
  // As if the first had stopped for longer than its lease.
  const taken = service.databases.live.collection<{ _id: string }>("jobs");
  const working = work();
  while (asked.length < 20) await new Promise(setImmediate);
  await taken.updateOne({ _id: id }, { $set: { "lease.until": new Date(0) } });
  await Promise.all([working, work(other)]);
  await Promise.all([work(), work(other)]);
  expect(await ours.job(id)).toMatchObject({ status: JobStatus.COMPLETED, done: 300 });
  const stored = service.databases.live.collection("verifications");
  expect(await stored.countDocuments({ organization_id: organizationId })).toBe(300);
  expect(asked.length).toBeGreaterThan(300);
});

test("a vendor in two jobs that two replicas work on at the same moment has a verification in each, and one monitor", async () => {
  const monitor = { frequency: "daily", webhookUrl: "", activeLimit: 10 };
  const ids = [await ours.start([{ identifiers: { uei: uei(1) } }], { monitor })];
  ids.push(await ours.start([{ identifiers: { uei: uei(1) } }], { monitor }));
  const both = Promise.withResolvers<void>();
  let inFlight = 0;
  for (const { entities } of [service, other]) {
    entities.schedule.resolved = async () => {
      inFlight += 1;
      if (inFlight === 2) both.resolve();
      await both.promise;
    };
  }
  await Promise.all([work(), work(other)]);
  for (const { entities } of [service, other]) delete entities.schedule.resolved;
  const found = (await Promise.all(ids.map((id) => ours.results(id)))).flat();
  expect(found.map(({ outcome, monitorId }) => [NAMES[outcome], monitorId])).toEqual(
    Array(2).fill(["pass", `mon_${uei(1)}`]),
  );
  expect(new Set(found.map(({ verification }) => verification!.id)).size).toBe(2);
  expect(createdMonitors).toEqual([`ent_${uei(1)}`]);
});

test("a row that waits names its monitor, and so does its repeat, until both are answered or canceled", async () => {
  answer = () => "throw";
  const rows = [{ identifiers: { uei: uei(1) } }, { identifiers: { uei: uei(1) }, sameAs: 1 }];
  const start = () => ours.start(rows, { monitor: { frequency: "daily", activeLimit: 10 } });
  const [id, canceled] = [await start(), await start()];
  await work();
  const waiting = { outcome: RowOutcome.WAITING, entityId: `ent_${uei(1)}`, monitorId: `mon_${uei(1)}` };
  expect(await ours.results(id)).toMatchObject([waiting, waiting]);
  expect((await ours.job(id)).counts).toMatchObject({ waiting: 2 });
  await ours.cancel(canceled);
  expect(await ours.results(canceled)).toEqual([]);
  answer = () => "pass";
  clockMs = 61_000;
  await work();
  expect(await outcomes(id)).toEqual(["pass", "pass"]);
  expect(await ours.job(id)).toMatchObject({ status: JobStatus.COMPLETED, done: 2, counts: { pass: 2, waiting: 0 } });
});

test("a row that waits makes its monitor once: one that is canceled meanwhile is not made again", async () => {
  answer = () => "throw";
  const id = await ours.start([{ identifiers: { uei: uei(1) } }], { monitor: { frequency: "daily", activeLimit: 10 } });
  await work();
  expect(createdMonitors).toEqual([`ent_${uei(1)}`]);
  createdMonitors.length = 0;
  // A try that says nothing of its vendor comes in between.
  const { resolve } = service.entities.schedule;
  service.entities.schedule.resolve = () => {
    throw new ServiceError("service_unavailable");
  };
  clockMs = 61_000;
  await work();
  Object.assign(service.entities.schedule, { resolve });
  answer = () => "pass";
  clockMs = 10 * 60_000;
  await work();
  expect(await ours.results(id)).toMatchObject([{ outcome: RowOutcome.PASS, monitorId: `mon_${uei(1)}` }]);
  expect(createdMonitors).toEqual([]);
});

test("a job whose replica died goes on elsewhere when its lease has ended", async () => {
  const id = await ours.start([{ identifiers: { uei: uei(1) } }, { identifiers: { uei: uei(2, "DOWN") } }]);
  await work();
  expect(await outcomes(id)).toEqual(["pass", "waiting"]);
  for (const each of [service, other]) each.entities.schedule.resolve = () => `ent_${uei(1)}`;
  other.entities.put(organizationId, `ent_${uei(1)}`, { subject: { legalName: "A", uei: uei(1) } });
  await service.databases.live
    .collection<{ _id: string }>("jobs")
    .updateOne({ _id: id }, { $set: { lease: { owner: "dead", until: new Date(now().getTime() + 60_000) } } });
  await work(other);
  expect((await ours.job(id)).done).toBe(1);
  clockMs = 61_000;
  await work(other);
  expect(await ours.job(id)).toMatchObject({ status: JobStatus.COMPLETED, done: 2 });
});

describe("a canceled job", () => {
  test("begins no further row, keeps what is done, and can't be canceled once it is completed", async () => {
    answer = (vendor) => (vendor === uei(1) ? "pass" : "throw");
    const id = await ours.start([{ identifiers: { uei: uei(1) } }, { identifiers: { uei: uei(2) } }]);
    await work();
    expect(await ours.cancel(id)).toMatchObject({ status: JobStatus.CANCELED, done: 1, counts: { waiting: 0 } });
    expect(await ours.cancel(id)).toMatchObject({ status: JobStatus.CANCELED });
    asked.length = 0;
    clockMs = 3_600_000;
    await work();
    expect(asked).toEqual([]);
    expect(await outcomes(id)).toEqual(["pass"]);
    const done = await ours.start([{ identifiers: { uei: uei(1) } }]);
    await work();
    await expect(ours.cancel(done)).rejects.toMatchObject({ code: "job_finished" });
  });

  test("stores no verification of a row that was in flight", async () => {
    let began = () => {};
    const isInFlight = new Promise<void>((resolve) => {
      began = resolve;
    });
    const gate = Promise.withResolvers<void>();
    service.entities.schedule.resolved = () => {
      began();
      return gate.promise;
    };
    const id = await ours.start([{ identifiers: { uei: uei(1) } }]);
    const working = work();
    await isInFlight;
    await ours.cancel(id);
    delete service.entities.schedule.resolved;
    gate.resolve();
    await working;
    expect(await ours.results(id)).toEqual([]);
    const stored = service.databases.live.collection("verifications");
    expect(await stored.countDocuments({ organization_id: organizationId })).toBe(0);
  });
});

describe("starting", () => {
  const row = [{ identifiers: { uei: uei(1) } }];

  test("with an Idempotency-Key again returns the first job", async () => {
    const idempotency = { apiKeyId: "key_1", path: "/v1/jobs", key: randomUUID(), bodyHash: new Uint8Array([1]) };
    const first = await ours.start(row, { idempotency });
    await work();
    const again = await ours.add(row);
    const repeated = await ours.startAdded(again, 1, { idempotency });
    expect(repeated).toMatchObject({ replayed: true, job: { id: first, status: JobStatus.QUEUED, done: 0 } });
    expect((await ours.jobs()).map(({ id }) => id)).toEqual([first]);
    expect(await storedRows()).toBe(1);
  });

  test("of two jobs at the same moment is refused where both have more rows than may be open", async () => {
    const many = Array.from({ length: 6 }, (_, index) => ({ identifiers: { uei: uei(index) } }));
    const ids = await Promise.all([ours.add(many), ours.add(many)]);
    const started = await Promise.allSettled(ids.map((jobId) => ours.startAdded(jobId, 6, { openRows: 10 })));
    expect(started.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(started.find(({ status }) => status === "rejected")).toMatchObject({ reason: { code: "too_many_rows" } });
    await work();
    expect(await storedRows()).toBe(6);
    await ours.startAdded(await ours.add(many), 6, { openRows: 10 });
  });

  test("counts rows that repeat an earlier one until they have its answer", async () => {
    const start = async (total: number) => {
      const rows = Array.from({ length: total }, (_, index) => ({ ...row[0]!, sameAs: index > 0 ? 1 : 0 }));
      return ours.startAdded(await ours.add(rows), total, { openRows: 3 });
    };
    await expect(start(4)).rejects.toMatchObject({ code: "too_many_rows" });
    await start(2);
    await expect(start(2)).rejects.toMatchObject({ code: "too_many_rows" });
    await work();
    await start(3);
  });

  test("is refused while rows are missing, and what was added is removed", async () => {
    const jobId = await ours.add(row);
    await expect(ours.startAdded(jobId, 2)).rejects.toMatchObject({ code: "invalid_request" });
    await expect(ours.job(jobId)).rejects.toMatchObject({ code: "job_not_found" });
    expect(await storedRows()).toBe(0);
  });

  test("is possible for an hour; then the rows are removed", async () => {
    const jobId = await ours.add(row);
    clockMs = 3_601_000;
    await expect(ours.startAdded(jobId, 1)).rejects.toMatchObject({ code: "job_not_found" });
    await service.jobs.live.removeAged();
    expect(await storedRows()).toBe(0);
  });
});

test("rows of a further job are refused while too many rows of the organization's jobs wait for their start", async () => {
  const intake = service.databases.live.collection<{ _id: string }>("jobs");
  const jobId = await ours.add([{ identifiers: { uei: uei(1) } }]);
  await intake.updateOne({ _id: jobId }, { $inc: { received: 99_998 } });
  // As long as they are fewer, a job's later rows count too.
  const second = await ours.add([{ identifiers: { uei: uei(2) } }]);
  await expect(ours.add([{ identifiers: { uei: uei(3) } }])).rejects.toMatchObject({ code: "too_many_rows" });
  await ours.add([{ row: 2 }], second);
  await ours.startAdded(second, 2);
  await ours.add([{ identifiers: { uei: uei(3) } }]);
});

test("nobody sees, cancels or adds to the job of another organization", async () => {
  const id = await ours.start([{ identifiers: { uei: uei(1) } }]);
  const theirs = jobsOf(service, newId("org"));
  const calls: Promise<unknown>[] = [theirs.job(id), theirs.results(id), theirs.cancel(id), theirs.add([], id)];
  for (const each of calls) await expect(each).rejects.toMatchObject({ code: "job_not_found" });
  expect(await theirs.jobs()).toEqual([]);
});

test("with monitors, each resolved vendor gets one; where the cap is reached, the row says so and its result stands", async () => {
  limitMonitors = 1;
  const rows = [{ identifiers: { uei: uei(1) } }, { identifiers: { uei: uei(2) } }];
  const id = await ours.start(rows, { monitor: { frequency: "daily", webhookUrl: "", activeLimit: 1 } });
  await work();
  const found = await ours.results(id);
  expect(found.map(({ outcome }) => NAMES[outcome])).toEqual(["pass", "pass"]);
  expect(found.filter(({ monitorId }) => monitorId !== "")).toHaveLength(1);
  expect(found.flatMap(({ problems }) => problems)).toEqual([expect.objectContaining({ path: "monitor" })]);
});

test("a number that is refused for the monitor is a problem of the row, and not shown", async () => {
  const rows = [{ identifiers: { uei: uei(1) }, externalId: "123456780" }];
  const id = await ours.start(rows, { monitor: { frequency: "daily", webhookUrl: "", activeLimit: 1 } });
  await work();
  const [row] = await ours.results(id);
  expect(row).toMatchObject({
    externalId: "",
    monitorId: "",
    problems: [{ path: "external_id", message: "is the TIN" }],
  });
  expect(NAMES[row!.outcome]).toBe("pass");
});

test("the receipt of a job proves the decision of each row, with the hashes of its evidence", async () => {
  answer = (vendor) => (vendor === uei(2) ? "fail" : "pass");
  const id = await ours.start([
    { identifiers: { uei: uei(1) } },
    { identifiers: { uei: uei(2) } },
    { legalName: "Nobody" },
  ]);
  service.entities.schedule.lookUp = undefined as never;
  await work();
  const request = { caller: ours.caller, jobId: id, issuer: "https://api.example.test" };
  const { receipt } = await service.jobClient.getJobReceipt(request);
  const claims = JSON.parse(Buffer.from(receipt.split(".")[1]!, "base64url").toString());
  const stored = await service.databases.live
    .collection("evidence")
    .find({ organization_id: organizationId })
    .toArray();
  const hashOf = (number: number) =>
    stored
      .filter(({ verification_id }) => verification_id === claims.results[number].verification_id)
      .map(({ sha256 }) => sha256);
  expect(claims).toMatchObject({
    iss: "https://api.example.test",
    sub: id,
    environment: "live",
    job: { status: "completed", total: 3, counts: { pass: 1, fail: 1, not_found: 1 } },
    results: [
      { row: 1, outcome: "pass", decision: "pay", entity_id: `ent_${uei(1)}`, evidence: hashOf(0) },
      { row: 2, outcome: "fail", decision: "hold", evidence: hashOf(1) },
      { row: 3, outcome: "not_found", decision: "review" },
    ],
  });
  expect(hashOf(0)).toHaveLength(1);
  expect((await service.jobClient.getJobReceipt(request)).receipt).toBe(receipt);
});

test("the receipt of a job has all its rows, also where their results fill several messages", async () => {
  const problems = [
    { path: "vendor", message: "must contain entity_id, identifiers, legal_name or address".repeat(4) },
  ];
  const id = await ours.start(Array.from({ length: 3_000 }, () => ({ problems })));
  const { receipt } = await service.jobClient.getJobReceipt({
    caller: ours.caller,
    jobId: id,
    issuer: "https://a.test",
  });
  const claims = JSON.parse(Buffer.from(receipt.split(".")[1]!, "base64url").toString());
  expect(claims.job).toMatchObject({ total: 3_000, counts: { invalid: 3_000 } });
  expect(claims.results.map(({ row }: { row: number }) => row)).toEqual(
    Array.from({ length: 3_000 }, (_, at) => at + 1),
  );
});
