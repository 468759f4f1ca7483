import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { ServiceError } from "@vvs/errors";
import { newId } from "@vvs/ids";
import { createLeases, shardOf } from "@vvs/outbox";
import { CheckStatus, Environment } from "@vvs/proto/common/v1/common";
import { type ReleaseVerificationsRequest, ReleaseVerificationsResponseSchema } from "@vvs/proto/monitor/v1/monitor";
import { Mode } from "@vvs/proto/verification/v1/verification";
import type { Environment as EnvironmentName } from "@vvs/tenant";
import { bodiesOf } from "../evidence/bodies.ts";
import type { Answer } from "../providers/provider.ts";
import { collectionsOf } from "../store.ts";
import { callerOf, passing, requestedRun, testProvider, verify } from "../testing/calls.ts";
import { registrationPart } from "../testing/parts.ts";
import { startTestService } from "../testing/service.ts";
import { createRetention, type RetentionOptions } from "./removal.ts";
import { createRemoveAged } from "./remove-aged.ts";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const days = { lasting: 2_557, repeated: 400, sandboxRuns: 14, least: 0 };

let now = new Date();
const pass = (ms: number) => {
  now = new Date(now.getTime() + ms);
};
let answer: Answer;
const ofContent = (content: string, more: Partial<Answer> = {}) => passing({ dataDate: now, content, ...more });

let org: string;
let entityId: string;
/** What monitor's monitors and events name, until when. */
const named = new Map<string, Date>();
let asked: ReleaseVerificationsRequest[] = [];

const service = await startTestService({
  live: [testProvider("played", "sam_registration", async () => answer)],
  now: () => now,
});
beforeEach(() => {
  org = newId("org");
  entityId = newId("ent");
  service.entities.put(org, entityId, { subject: { legalName: "Acme LLC", uei: "SANDBXPASS01" } });
  answer = ofContent(`{"about":"${org}"}`);
});
afterEach(async () => {
  named.clear();
  asked = [];
  for (const db of Object.values(service.databases)) {
    for (const name of ["verifications", "evidence", "latest_answers", "evidence_bodies"]) {
      await db.collection(name).deleteMany({});
    }
  }
});

const monitors: RetentionOptions["monitors"] = {
  async releaseVerifications(request) {
    asked.push(request as ReleaseVerificationsRequest);
    const found = (request.verifications ?? []).flatMap(({ id = "" }) => {
      const until = named.get(id);
      return until ? { id, until: timestampFromDate(until) } : [];
    });
    return create(ReleaseVerificationsResponseSchema, { named: found });
  },
};

function retain(environment: EnvironmentName = "live", options: Partial<RetentionOptions> = {}) {
  const stopping = new AbortController().signal;
  const common = { monitors, days, sandboxRuns: 10_000, isMine: () => true, now: () => now, stopping };
  return createRetention({ ...common, environment, db: service.databases[environment], ...options })();
}

/** Runs the retention until what nothing names is removed. */
async function retainAll(environment: EnvironmentName = "live", options: Partial<RetentionOptions> = {}) {
  await retain(environment, options);
  pass(2 * HOUR_MS);
  return retain(environment, options);
}

const caller = () => callerOf(org);
async function call(mode: Mode) {
  const verification = await verify(service, { organizationId: org, entityId }, { mode });
  pass(1_000);
  return verification;
}

const monitorId = newId("mon");
let runs = 1;
async function run(environment: EnvironmentName = "live") {
  runs += 1;
  const record = requestedRun(
    { organizationId: org, entityId },
    {
      ...{ monitorId, runSeq: runs, requestedAt: timestampFromDate(now) },
      environment: environment === "live" ? Environment.LIVE : Environment.SANDBOX,
    },
  );
  await service.runOf(environment)(record);
  pass(1_000);
  const { verifications } = collectionsOf(service.databases[environment]);
  return (await verifications.findOne({ run_record_id: record.recordId }))!;
}

const live = () => collectionsOf(service.databases.live);
const idsOf = async (environment: EnvironmentName = "live") =>
  (await collectionsOf(service.databases[environment]).verifications.find().sort({ _id: 1 }).toArray()).map(
    ({ _id }) => _id,
  );
const evidenceOf = (evidenceId: string) => service.client.getEvidence({ caller: caller(), evidenceId });
const verificationOf = (verificationId: string) => service.client.getVerification({ caller: caller(), verificationId });

test("one of two replicas does each batch, and the other one goes on once it has stopped", async () => {
  const db = service.databases.live;
  const leases = ["one", "two"].map((owner) => createLeases({ db, name: "outbox", owner, leaseMs: 60_000 }));
  const holders = () => leases.filter((each) => each.held().includes(shardOf("retention")));
  for (const each of [...leases, ...leases]) await each.renew();
  expect(holders()).toHaveLength(1);
  const replicas = () => Promise.all(leases.map((each) => retain("live", { isMine: () => holders().includes(each) })));
  const removed = async () => (await replicas()).reduce((sum, count) => sum + count, 0);
  await run();
  pass(400 * DAY_MS);
  expect([await removed(), asked.length]).toEqual([0, 1]);
  const [first] = holders();
  await first!.release();
  pass(2 * HOUR_MS);
  expect([await removed(), asked.length]).toEqual([0, 1]);
  await leases.find((each) => each !== first)!.renew();
  expect([await removed(), asked.length]).toEqual([1, 2]);
});

describe("a verification that nothing names", () => {
  test("is removed when its time has come, with its evidence, its body and its answers", async () => {
    const { _id, results } = await run();
    pass(399 * DAY_MS);
    expect(await retainAll()).toBe(0);
    expect((await verificationOf(_id)).verification?.id).toBe(_id);
    pass(DAY_MS);
    expect(await retainAll()).toBe(1);
    await expect(verificationOf(_id)).rejects.toMatchObject({ code: "verification_not_found" });
    await expect(evidenceOf(results[0]!.evidence_id)).rejects.toMatchObject({ code: "evidence_not_found" });
    const { evidence, latestAnswers } = live();
    for (const each of [evidence, latestAnswers, bodiesOf(service.databases.live)]) {
      expect(await (each as typeof evidence).countDocuments()).toBe(0);
    }
  });

  test("loses its answers first, and goes when the calls that read one have ended", async () => {
    const { _id } = await run();
    pass(401 * DAY_MS);
    expect(await retain()).toBe(0);
    expect([await idsOf(), await live().latestAnswers.countDocuments()]).toEqual([[_id], 0]);
    pass(HOUR_MS / 2);
    expect(await retain()).toBe(0);
    pass(HOUR_MS);
    expect(await retain()).toBe(1);
  });

  test("leaves a body that another record names", async () => {
    await run();
    pass(100 * DAY_MS);
    const { results } = await run();
    pass(301 * DAY_MS);
    expect(await retainAll()).toBe(1);
    expect((await evidenceOf(results[0]!.evidence_id)).evidence?.content).toBe(answer.content);
  });

  test("makes no older answer the newest again", async () => {
    answer = ofContent("{}", { outcome: "fail", reason: "not_registered" });
    const failed = await call(Mode.REALTIME);
    answer = ofContent("{}");
    await run();
    pass(401 * DAY_MS);
    expect(await retainAll()).toBe(1);
    const { results } = await call(Mode.CACHED);
    expect(results[0]).toMatchObject({ status: CheckStatus.PASS });
    expect(results[0]?.evidenceId).not.toBe(failed.results[0]?.evidenceId);
    expect((await evidenceOf(failed.results[0]!.evidenceId)).evidence?.content).toBe("{}");
  });

  test("leaves a newer answer to its question", async () => {
    await run();
    pass(399 * DAY_MS);
    const newer = await run();
    pass(2 * DAY_MS);
    expect(await retainAll()).toBe(1);
    expect((await call(Mode.CACHED)).results[0]?.evidenceId).toBe(newer.results[0]?.evidence_id);
  });
});

describe("a verification stays past its time", () => {
  test("for as long as a monitor or an event names it", async () => {
    const [kept, gone] = [await run(), await run()];
    pass(401 * DAY_MS);
    named.set(kept._id, new Date(now.getTime() + 100 * DAY_MS));
    expect(await retainAll()).toBe(1);
    expect(await idsOf()).toEqual([kept._id]);
    expect(asked[0]!.verifications).toEqual(
      [kept, gone].map(({ _id: id, run }) => ({
        ...{ id, organizationId: org, monitorId: run!.monitor_id, runSeq: BigInt(run!.run_seq) },
      })),
    );
    // The stored answer is the other run's, which is gone.
    asked = [];
    pass(99 * DAY_MS);
    expect([await retainAll(), asked]).toEqual([0, []]);
    pass(DAY_MS);
    named.clear();
    expect(await retainAll()).toBe(1);
  });

  test("with its answer, which cached calls still find", async () => {
    const { _id, results } = await run();
    named.set(_id, new Date(now.getTime() + 5_000 * DAY_MS));
    pass(3_000 * DAY_MS);
    expect(await retainAll()).toBe(0);
    expect((await call(Mode.CACHED)).results[0]?.evidenceId).toBe(results[0]?.evidence_id);
  });

  test("while a cached call names its evidence", async () => {
    const first = await run();
    pass(390 * DAY_MS);
    const cached = await call(Mode.CACHED);
    expect(cached.results[0]?.evidenceId).toBe(first.results[0]?.evidence_id);
    pass(390 * DAY_MS);
    expect(await retainAll()).toBe(0);
    expect(await idsOf()).toEqual([first._id, cached.id]);
    const { evidence } = await evidenceOf(cached.results[0]!.evidenceId);
    expect((await verificationOf(evidence!.verificationId)).verification?.id).toBe(first._id);
    pass(11 * DAY_MS);
    expect(await retainAll()).toBe(1);
    pass(2 * DAY_MS);
    expect(await retainAll()).toBe(1);
  });

  test("while a cached call that read its answer before is stored", async () => {
    const first = await run();
    pass(401 * DAY_MS);
    const { latestAnswers } = live();
    const latest = await latestAnswers.find().toArray();
    await retain();
    // What the call had read.
    await latestAnswers.insertMany(latest);
    const cached = await call(Mode.CACHED);
    await latestAnswers.deleteMany({});
    pass(2 * HOUR_MS);
    expect(await retain()).toBe(0);
    expect(await idsOf()).toEqual([first._id, cached.id]);
  });

  test("while newer evidence rests on a part of its answer", async () => {
    const registration = registrationPart(now);
    answer = ofContent("{}", { parts: { registration } });
    const first = await run();
    pass(100 * DAY_MS);
    const evidence_id = first.results[0]!.evidence_id;
    answer = ofContent("{}", { parts: { registration: { ...registration, evidence_id } } });
    const second = await run();
    pass(301 * DAY_MS);
    expect(await retainAll()).toBe(0);
    expect(await idsOf()).toEqual([first._id, second._id]);
    pass(100 * DAY_MS);
    expect(await retainAll()).toBe(1);
    pass(30 * DAY_MS);
    expect(await retainAll()).toBe(1);
  });

  test("while the newest stored answer has a part of its answer", async () => {
    answer = ofContent("{}", { parts: { registration: registrationPart(now) } });
    const first = await run();
    const older = registrationPart(new Date(now.getTime() - 300 * DAY_MS));
    pass(100 * DAY_MS);
    answer = ofContent("{}", { parts: { registration: older } });
    await run();
    pass(301 * DAY_MS);
    expect(await retainAll()).toBe(0);
    const { results } = await call(Mode.CACHED);
    expect(results[0]?.evidenceId).toBe(first.results[0]?.evidence_id);
    const { evidence } = await evidenceOf(results[0]!.evidenceId);
    expect((await verificationOf(evidence!.verificationId)).verification?.id).toBe(first._id);
  });

  test("while monitor can't be asked", async () => {
    await run();
    pass(401 * DAY_MS);
    const releaseVerifications = () => Promise.reject(new ServiceError("service_unavailable"));
    await expect(retain("live", { monitors: { releaseVerifications } })).rejects.toThrow();
    expect(await idsOf()).toHaveLength(1);
  });
});

test("a verification that another replica finds named between the two steps stays with its evidence", async () => {
  const { _id, results } = await run();
  pass(401 * DAY_MS);
  await retain();
  pass(2 * HOUR_MS);
  const later = new Date(now.getTime() + 100 * DAY_MS);
  const releaseVerifications: typeof monitors.releaseVerifications = async (request) => {
    await live().verifications.updateOne({ _id }, { $set: { expires_at: later, removal: "named" } });
    return monitors.releaseVerifications(request);
  };
  expect(await retain("live", { monitors: { releaseVerifications } })).toBe(0);
  expect((await evidenceOf(results[0]!.evidence_id)).evidence?.verificationId).toBe(_id);
});

test("a body goes when two replicas remove its last two records at the same moment", async () => {
  const db = service.databases.live;
  await run();
  await run();
  await live().verifications.updateMany({}, { $set: { removal: "due" } });
  const found = await live().verifications.find().toArray();
  pass(2 * DAY_MS);
  const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { evidence } = live();
  const held = Object.create(evidence, {
    aggregate: {
      value: (...args: Parameters<typeof evidence.aggregate>) => ({
        async toArray() {
          const cursor = evidence.aggregate(...args);
          reached.resolve();
          await released.promise;
          return cursor.toArray();
        },
      }),
    },
  });
  const slow = Object.create(db, {
    collection: { value: (name: string) => (name === "evidence" ? held : db.collection(name)) },
  });
  const removeIn = (of: typeof db) => createRemoveAged({ db: of, readNames: async () => new Map(), now: () => now });
  const first = removeIn(slow)([found[0]!]);
  await reached.promise;
  expect(await removeIn(db)([found[1]!])).toBe(1);
  expect(await bodiesOf(db).countDocuments()).toBe(1);
  released.resolve();
  expect(await first).toBe(1);
  expect([await evidence.countDocuments(), await bodiesOf(db).countDocuments()]).toEqual([0, 0]);
});

describe("in the sandbox", () => {
  test("runs go after 14 days with their evidence, and a call's verification stays", async () => {
    await run("sandbox");
    pass(13 * DAY_MS);
    const kept = await run("sandbox");
    expect(await retainAll("sandbox")).toBe(0);
    pass(DAY_MS);
    expect(await retainAll("sandbox")).toBe(1);
    expect(await idsOf("sandbox")).toEqual([kept._id]);
    expect(await collectionsOf(service.databases.sandbox).evidence.countDocuments()).toBe(1);
  });

  test("the oldest beyond an organization's number go, none younger than a day and none of live, and what is named is asked about once", async () => {
    const old = [await run("sandbox"), await run("sandbox"), await run("sandbox")];
    pass(25 * HOUR_MS);
    const young = [await run("sandbox"), await run("sandbox")];
    const inLive = [await run(), await run()];
    named.set(old[0]!._id, new Date(now.getTime() + DAY_MS));
    expect(await retainAll("sandbox", { sandboxRuns: 1 })).toBe(2);
    expect(await idsOf("sandbox")).toEqual([old[0]!, ...young].map(({ _id }) => _id));
    asked = [];
    expect(await retain("sandbox", { sandboxRuns: 1 })).toBe(0);
    expect(asked).toEqual([]);
    pass(300 * DAY_MS);
    expect(await retainAll("live", { sandboxRuns: 1 })).toBe(0);
    expect(await idsOf()).toEqual(inLive.map(({ _id }) => _id));
  });
});
