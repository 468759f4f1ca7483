import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { CheckStatus, CheckType } from "@vvs/proto/common/v1/common";
import { RunJudgement } from "@vvs/proto/verification/v1/verification";
import type { Answer, Question } from "../providers/provider.ts";
import { completedIn, passing, verify } from "../testing/calls.ts";
import { tinHashOf } from "../testing/entities.ts";
import { createTestMonitor, startPlayedQueue, type TestFiles } from "../testing/played-queue.ts";

// The digests of runs, and runs that are judged in bulk instead of being made.

const { SAME, DIFFERENT, OVERDUE } = RunJudgement;

/** What the simulated API says of every vendor, too. */
const AS_API = { cage: "1PLY1", entityType: "Corporate Entity (Not Tax Exempt)" };

const TIN = "471829360";

/** Answers that each TIN matches. */
async function matchingTin(question: Question, { signal }: { signal: AbortSignal }): Promise<Answer> {
  await question.tin(signal);
  return passing({ dataDate: queue.now() });
}

let vendors = 0;
const queue = await startPlayedQueue("2026-11-02T15:00:00Z");
const service = await queue.startReplica({}, { tin: matchingTin });
const client = service.clientFor("monitor");
beforeEach(() => queue.setTime("2026-11-02T15:00:00Z"));

/** What files say of an active vendor that nothing excludes; the exclusions file is of the test's day. */
function filesOf(uei: string, record: { legalName?: string } = {}, exclusionsAge = 0) {
  return {
    record: { uei, legalName: "Acme LLC", extractCode: "A", expirationDate: "2026-11-20", ...AS_API, ...record },
    ...{ registryCutDate: "2026-11-01", registryLoad: "registry:1" },
    ...{ exclusionsCutDate: queue.daysAgo(exclusionsAge), exclusionsLoad: "exclusions:1" },
  };
}

async function digestOf(verificationId: string): Promise<Uint8Array> {
  const [record] = await completedIn(service.databases.live, { record_id: verificationId });
  return record!.checks[0]!.digest;
}

/** Runs a new monitor twice; returns its row for a judgement. */
async function standing() {
  const uei = `JUDGED${String(++vendors).padStart(6, "0")}`;
  queue.setFiles(uei, filesOf(uei));
  queue.sam.register({ uei, legalName: "Acme LLC", expirationDate: "2026-11-20" });
  const monitor = createTestMonitor({ uei }, { replicas: [service] });
  await monitor.run();
  await monitor.run();
  const { _id } = (await monitor.verificationOf(2))!;
  const { organizationId, entityId } = monitor;
  return { uei, monitor, row: { organizationId, entityId, digest: await digestOf(_id) } };
}

type Row = Awaited<ReturnType<typeof standing>>["row"];
const judge = async (...runs: Row[]) => (await client.judgeRuns({ runs })).judgements;

describe("a standing run is judged", () => {
  test("as the same if only the dates of its data change, and writes nothing", async () => {
    const { uei, row } = await standing();
    const { live } = service.databases;
    const stored = () =>
      Promise.all(["verifications", "evidence", "outbox"].map((c) => live.collection(c).countDocuments()));
    const before = await stored();
    expect(await judge(row)).toEqual([SAME]);
    queue.passHours(24);
    queue.setFiles(uei, { ...filesOf(uei), registryCutDate: "2026-11-03", registryLoad: "registry:2" });
    expect(await judge(row)).toEqual([SAME]);
    expect(await stored()).toEqual(before);
    expect(row.digest).toHaveLength(16);
  });

  test("as the same where exclusions without identifiers begin to bear its name, which its next verification shows", async () => {
    const { uei, monitor, row } = await standing();
    const sameNames = [{ name: "ACME LLC", agency: "HHS", terminationDate: "indefinite" }];
    queue.setFiles(uei, { ...filesOf(uei), sameNames });
    expect(await judge(row)).toEqual([SAME]);
    await monitor.run();
    const { _id, results } = (await monitor.verificationOf(3))!;
    expect(results[0]!.details!.same_name).toMatchObject([{ name: "ACME LLC", agency: "HHS" }]);
    expect(await digestOf(_id)).toEqual(row.digest);
  });

  test("as different once a fact, an exclusion's effect or the question changes, or a date passes", async () => {
    const { uei, monitor, row } = await standing();
    const changed: TestFiles[] = [
      filesOf(uei, { legalName: "Acme Incorporated" }),
      {
        ...filesOf(uei),
        exclusions: [
          { program: "Reciprocal", activeDate: "2026-10-01", terminationDate: "indefinite", effect: "product" },
        ],
      },
    ];
    for (const files of changed) {
      queue.setFiles(uei, { ...files, registryCutDate: "2026-11-03", exclusionsCutDate: queue.daysAgo(0) });
      queue.setTime("2026-11-03T15:00:00Z");
      expect(await judge(row)).toEqual([DIFFERENT]);
    }
    queue.setFiles(uei, filesOf(uei));
    expect(await judge(row)).toEqual([SAME]);
    queue.setTime("2026-11-21T15:00:00Z");
    queue.setFiles(uei, filesOf(uei));
    expect(await judge(row)).toEqual([DIFFERENT]);
    queue.setTime("2026-11-02T15:00:00Z");
    queue.setFiles(uei, filesOf(uei));
    service.entities.put(row.organizationId, monitor.entityId, { subject: { uei: "JUDGEDOTHER1" } });
    expect(await judge(row)).toEqual([DIFFERENT]);
  });

  test("as overdue where only a newer exclusions file could answer", async () => {
    const { uei, row } = await standing();
    queue.setTime("2026-11-06T15:00:00Z");
    const nobody = "0".repeat(12);
    queue.setFiles(nobody, { registryCutDate: "2026-11-01", exclusionsCutDate: queue.daysAgo(4) });
    queue.setFiles(uei, filesOf(uei, {}, 4));
    expect(await client.judgeRuns({ runs: [row] })).toMatchObject({ judgements: [OVERDUE], isOverdue: true });
    queue.setFiles(nobody, { registryCutDate: "2026-11-01", exclusionsCutDate: queue.daysAgo(0) });
    queue.setFiles(uei, filesOf(uei));
    expect(await judge(row)).toEqual([SAME]);
  });
});

describe("of two organizations with runs of the same vendor, in one call, each is judged by", () => {
  /** Their rows, of an entity with the same id and identifiers, and the same answers; both are judged the same. */
  async function both() {
    const { uei, row: mine } = await standing();
    const other = { ...mine, organizationId: newId("org") };
    expect(await judge(other, mine)).toEqual([DIFFERENT, SAME]);
    service.entities.put(other.organizationId, other.entityId, { subject: { legalName: "V", uei } });
    expect(await judge(other, mine)).toEqual([SAME, SAME]);
    return { uei, mine, other };
  }
  const callFor = (row: Row, checks: CheckType[]) => verify(service, row, { checks });

  test("what it knows of its entity, if it can see it", async () => {
    const { mine, other } = await both();
    service.entities.put(mine.organizationId, mine.entityId, { subject: { uei: "JUDGEDOTHER1" } });
    expect(await judge(other, mine)).toEqual([SAME, DIFFERENT]);
  });

  test("its own stored answers, for vendors that the files don't list", async () => {
    const { uei, mine, other } = await both();
    await queue.collections().publicAnswers.deleteMany({});
    queue.setFiles(uei, { exclusionsCutDate: queue.daysAgo(0), exclusionsLoad: "exclusions:1" });
    expect(await judge(other, mine)).toEqual([DIFFERENT, SAME]);
  });

  test("what only a call of its own has learned", async () => {
    const { uei, mine, other } = await both();
    queue.passHours(1);
    queue.sam.forget(uei);
    queue.sam.register({ uei, legalName: "Renamed LLC", expirationDate: "2026-11-20" });
    await callFor(other, [CheckType.SAM_REGISTRATION]);
    expect(await judge(other, mine, other, mine)).toEqual([DIFFERENT, SAME, DIFFERENT, SAME]);
  });

  test("no TIN, nor an answer about one", async () => {
    const { uei, mine, other } = await both();
    const subject = { legalName: "V", uei, tinHash: tinHashOf(TIN) };
    for (const { organizationId, entityId } of [mine, other]) {
      service.entities.put(organizationId, entityId, { subject, tin: TIN });
    }
    const answer = (await callFor(mine, [CheckType.TIN_MATCH])).results[0]!;
    expect(answer).toMatchObject({ status: CheckStatus.PASS, origin: "tin_provider" });
    const latest = service.databases.live.collection<{ _id: string; organization_id: string }>("latest_answers");
    const tinAnswers = () => latest.find({ _id: /[|]tin_match[|]/ }).toArray();
    const [before, revealed] = [await tinAnswers(), [...service.entities.revealed]];
    expect(before.map(({ organization_id }) => organization_id)).toEqual([mine.organizationId]);
    expect(await judge(other, mine)).toEqual([SAME, SAME]);
    expect([await tinAnswers(), service.entities.revealed]).toEqual([before, revealed]);
  });
});

test("the reply has the days that the loaded files were cut, and an answer from older data on exclusions is different", async () => {
  const { row } = await standing();
  queue.setFiles("0".repeat(12), { registryCutDate: "2026-11-01", exclusionsCutDate: "2026-11-02" });
  expect(await client.judgeRuns({ runs: [row] })).toMatchObject({
    judgements: [SAME],
    isOverdue: false,
    registrationAsOf: timestampFromDate(new Date("2026-11-01")),
    exclusionsAsOf: timestampFromDate(new Date("2026-11-02")),
  });
  queue.setFiles("0".repeat(12), { registryCutDate: "2026-11-01", exclusionsCutDate: "2026-11-03" });
  expect(await judge(row)).toEqual([DIFFERENT]);
  queue.setFiles("0".repeat(12), { registryCutDate: "2026-11-01", exclusionsCutDate: "2026-11-02" });
});

test("many runs share their reads, and more than 500 are refused", async () => {
  const { row } = await standing();
  const reads: number[] = [];
  service.entities.schedule.registry = async (read) => void reads.push(read);
  expect(new Set(await judge(...Array.from({ length: 300 }, () => row)))).toEqual(new Set([SAME]));
  service.entities.schedule.registry = async () => undefined;
  expect(reads.length).toBeLessThanOrEqual(4);
  await expect(judge(...Array.from({ length: 501 }, () => row))).rejects.toMatchObject({ code: "invalid_request" });
});

test("nothing is judged where our own reads take too long", async () => {
  const { uei, row } = await standing();
  const slow = await queue.startReplica({}, { limits: { attemptMs: 100 } });
  slow.entities.put(row.organizationId, row.entityId, { subject: { legalName: "V", uei } });
  const end = Promise.withResolvers<void>();
  slow.entities.schedule.registry = () => end.promise;
  const judging = slow.clientFor("monitor").judgeRuns({ runs: [row] });
  await expect(judging).rejects.toMatchObject({ code: "service_unavailable" });
  end.resolve();
});
