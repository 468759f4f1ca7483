import { beforeEach, describe, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { environmentDatabases } from "@vvs/mongo";
import type { Tenant } from "@vvs/tenant";
import { testMongo } from "@vvs/testing";
import { type Document, MongoClient } from "mongodb";
import type { AnswerDocument } from "../documents.ts";
import { migrate } from "../migrate.ts";
import { collectionsOf } from "../store.ts";
import { exclusionsPart, registrationPart } from "../testing/parts.ts";
import { createReadKnownAnswers, latestId, latestWrites, newestOf } from "./latest-answers.ts";

const { client, prefix } = await testMongo();
await migrate({ client, prefix });

const storedIn = (of: MongoClient, environment: Tenant["environment"] = "live") =>
  collectionsOf(environmentDatabases(of, prefix, "verification")[environment]);

/** Stores answers one after another, as transactions do. */
async function store(
  answers: readonly AnswerDocument[],
  environment: Tenant["environment"] = "live",
  withdrawn: string[] = [],
) {
  for (const answer of answers) {
    await storedIn(client, environment).latestAnswers.bulkWrite(latestWrites([answer], withdrawn), { ordered: true });
  }
}

function answerOf(owner: Partial<AnswerDocument>): AnswerDocument {
  return {
    _id: newId("evd"),
    organization_id: newId("org"),
    entity_id: newId("ent"),
    check_type: "sam_registration",
    inputs_fingerprint: "asked",
    outcome: "pass",
    reason: "",
    confidence: 1,
    origin: "sandbox_primary",
    data_date: new Date(0),
    facts: {},
    created_at: new Date(1_000_000),
    ...owner,
  };
}

/** Returns the reader of newest answers only. */
function createReadNewest(collections: ReturnType<typeof storedIn>) {
  const read = createReadKnownAnswers(collections);
  return async (...asked: Parameters<typeof read>) => (await read(...asked)).newest;
}

const tenantOf = ({ organization_id }: AnswerDocument): Tenant => ({
  organizationId: organization_id,
  environment: "live",
});
const keyOf = ({ entity_id, check_type, inputs_fingerprint }: AnswerDocument) => ({
  entityId: entity_id,
  check: check_type,
  fingerprint: inputs_fingerprint,
});

/** Returns the reads during `work`, as the server's profiler saw them. */
async function readsOf(work: () => Promise<unknown>): Promise<Document[]> {
  const { live } = environmentDatabases(client, prefix, "verification");
  await live.command({ profile: 2 });
  await work();
  await live.command({ profile: 0 });
  const profile = live.collection("system.profile");
  const reads = await profile.find({ op: { $in: ["query", "command"] }, ns: /answers$/ }).toArray();
  await profile.drop();
  return reads;
}

test("a first answer is inserted as an update would store it, and a second one of its question joins it", async () => {
  const { latestAnswers } = storedIn(client);
  const [one, two] = [1, 2].map(() => answerOf({ parts: { registration: registrationPart(new Date(1_000)) } }));
  const later = answerOf({ ...one, _id: newId("evd"), created_at: new Date(2_000_000) });
  await store([one!, two!]);
  const read = () => latestAnswers.find({ _id: { $in: [one!, two!].map(latestId) } }).toArray();
  const updated = await read();
  await latestAnswers.deleteMany({ _id: { $in: updated.map(({ _id }) => _id) } });
  const inserts = latestWrites([one!, two!], [], [one!._id, two!._id]);
  expect(inserts.map((each) => Object.keys(each))).toEqual([["insertOne"], ["insertOne"]]);
  await latestAnswers.bulkWrite(inserts);
  expect(await read()).toEqual(updated);
  await latestAnswers.deleteMany({ _id: { $in: updated.map(({ _id }) => _id) } });
  await latestAnswers.bulkWrite(latestWrites([one!, later], [], [one!._id, later._id]), { ordered: true });
  expect(await latestAnswers.findOne({ _id: latestId(one!) })).toMatchObject({ answer: { _id: later._id } });
});

test("reads at the same moment share a command, in which each answer costs one key", async () => {
  const wanted = Array.from({ length: 20 }, () => answerOf({}));
  await store(wanted);
  const ask = createReadNewest(storedIn(client));
  const reads = await readsOf(async () => {
    const found = await Promise.all(wanted.map((each) => ask(tenantOf(each), keyOf(each))));
    expect(found).toEqual(wanted);
  });
  const costs = reads.map(({ docsExamined, nreturned }) => [docsExamined, nreturned]);
  expect(costs).toEqual([[20, 20]]);
  const [single] = await readsOf(() => ask(tenantOf(wanted[0]!), keyOf(wanted[0]!)));
  expect(single).toMatchObject({ keysExamined: 1, docsExamined: 1, nreturned: 1 });
});

test("public answers are read by the same command, each for whoever names it", async () => {
  const wanted = ["one", "two", "none"].map((facts) => answerOf({ facts: { legal_name: facts } }));
  await store(wanted);
  const { publicAnswers } = storedIn(client);
  const keptOf = (_id: string) => ({ _id, parts: {}, bodies: [], asked_at: new Date(0) });
  await publicAnswers.insertMany([keptOf("uei:one"), keptOf("uei:two"), keptOf("uei:other")]);
  const ask = createReadKnownAnswers(storedIn(client));
  const publicKeys = ["uei:one", "uei:two", undefined];
  const reads = await readsOf(async () => {
    const found = await Promise.all(wanted.map((each, index) => ask(tenantOf(each), keyOf(each), publicKeys[index])));
    expect(found).toEqual(
      wanted.map((newest, index) => ({ newest, kept: publicKeys[index] && keptOf(publicKeys[index]) })),
    );
  });
  expect(reads).toHaveLength(1);
});

test("a text that begins with a dollar sign is stored as it is", async () => {
  const answer = answerOf({ facts: { legal_name: "$answer" } as AnswerDocument["facts"] });
  await store([answer]);
  expect(await createReadNewest(storedIn(client))(tenantOf(answer), keyOf(answer))).toEqual(answer);
});

test("a shared command returns each read the answer for its own tenant, entity, check and inputs, or null", async () => {
  const mine = answerOf({ outcome: "pass" });
  const others = [
    { ...mine, _id: newId("evd"), organization_id: newId("org") },
    { ...mine, _id: newId("evd"), entity_id: newId("ent") },
    { ...mine, _id: newId("evd"), check_type: "tin_match" as const },
    { ...mine, _id: newId("evd"), inputs_fingerprint: "another" },
  ];
  await store([mine, ...others]);
  await store([{ ...mine, _id: newId("evd"), created_at: new Date(2_000_000) }], "sandbox");
  const ask = createReadNewest(storedIn(client));
  const nobodys = [
    { ...mine, organization_id: newId("org") },
    { ...others[0]!, check_type: "tin_match" as const },
  ];
  const all = [mine, ...others, ...nobodys, mine];
  const found = await Promise.all([...all, ...all].map((each) => ask(tenantOf(each), keyOf(each))));
  const expected = [mine, ...others, null, null, mine];
  expect(found).toEqual([...expected, ...expected]);
});

test("among answers of the same moment the one with the higher id is the newest", async () => {
  const [lower, higher] = [newId("evd"), newId("evd")].sort();
  const answer = answerOf({});
  await store([
    { ...answer, _id: higher! },
    { ...answer, _id: lower! },
  ]);
  const ask = createReadNewest(storedIn(client));
  expect(await ask(tenantOf(answer), keyOf(answer))).toMatchObject({ _id: higher });
});

test("every read fails where the database can't be read, also those that wait", async () => {
  const closed = await new MongoClient(process.env.MONGODB_URI!).connect();
  await closed.close();
  const ask = createReadNewest(storedIn(closed));
  const answer = answerOf({});
  const settled = await Promise.allSettled(Array.from({ length: 40 }, () => ask(tenantOf(answer), keyOf(answer))));
  expect(new Set(settled.map(({ status }) => status))).toEqual(new Set(["rejected"]));
});

describe("of answers that rest on parts", () => {
  const DAY = 86_400_000;
  /** An answer stored in this second, with parts of these days; the vendor's name says of which registration it is. */
  const at = (seconds: number, registration: number, exclusions: number, load = "") =>
    answerOf({
      organization_id: "org_1",
      entity_id: `ent_${entity}`,
      created_at: new Date(40 * DAY + seconds * 1_000),
      parts: {
        registration: registrationPart(new Date(registration * DAY), {
          ...{ load, expiration_date: "1971-01-01", evidence_id: `evd_${registration}` },
          legal_name: `of day ${registration}`,
        }),
        exclusions: exclusionsPart(new Date(exclusions * DAY), { load }),
      },
    });
  let entity = 0;
  beforeEach(() => {
    entity++;
  });
  const daysOf = ({ parts }: AnswerDocument) =>
    [parts?.registration, parts?.exclusions].map((part) => part!.date.getTime() / DAY);

  test.each([
    ["the last, where it is as new", [at(0, 5, 5), at(9, 5, 5)], [5, 5]],
    ["newer parts of the one before", [at(0, 6, 6), at(9, 5, 5)], [6, 6]],
    ["the newer part of each", [at(0, 6, 5), at(9, 5, 6)], [6, 6]],
    ["the newest of several, in whatever order", [at(9, 6, 1), at(7, 7, 7), at(8, 1, 9)], [7, 9]],
  ])("%s counts, judged again", async (_name, answers, expected) => {
    const same = answers.map((answer) => ({ ...answer, entity_id: `ent_${entity}` }));
    await store(same);
    const found = (await createReadNewest(storedIn(client))(tenantOf(same[0]!), keyOf(same[0]!)))!;
    expect(daysOf(found)).toEqual(expected);
    expect(found).toMatchObject({ created_at: new Date(40 * DAY + 9_000), outcome: "pass" });
    const isJudgedAgain =
      daysOf(same.find(({ created_at }) => +created_at === +found.created_at)!).join() !== expected.join();
    if (isJudgedAgain) {
      expect(found.facts).toMatchObject({ legal_name: `of day ${expected[0]}` });
      expect([found._id, found.data_date]).toEqual([`evd_${expected[0]}`, new Date(Math.min(...expected) * DAY)]);
    }
  });

  test("a part whose load was withdrawn gives way to an older one", async () => {
    const [bad, good] = [at(0, 9, 9, "registry:bad"), at(9, 5, 5)];
    await store([bad]);
    await store([good], "live", ["registry:bad"]);
    const found = (await createReadNewest(storedIn(client))(tenantOf(good), keyOf(good)))!;
    expect(daysOf(found)).toEqual([5, 5]);
  });

  test("the exclusions of the vendor's name are those of the last answer", () => {
    const same_name = [
      { name: "X", program: "", type: "", agency: "", active_date: "", termination_date: "indefinite" },
    ];
    const answer = { ...at(0, 5, 5), details: { same_name } };
    const judged = newestOf({ answer, parts: at(0, 6, 6).parts! });
    expect(judged.details).toMatchObject({ legal_name: "of day 6", same_name });
    const unknown = newestOf({
      answer: { ...answer, details: { same_name_unknown: true } },
      parts: at(0, 6, 6).parts!,
    });
    expect(unknown.details).toMatchObject({ legal_name: "of day 6", same_name_unknown: true });
  });

  test("where the newest parts do not suffice for a verdict, the last answer counts", () => {
    const answer = at(0, 5, 5);
    const { exclusions } = at(0, 6, 6).parts!;
    expect(newestOf({ answer, parts: { exclusions } })).toBe(answer);
  });
});
