import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { createLogger } from "@vvs/logging";
import { connectMongo, environmentDatabases } from "@vvs/mongo";
import type { Tenant } from "@vvs/tenant";
import type { Document, MongoClient } from "mongodb";
import type { AnswerDocument } from "../documents.ts";
import { migrate } from "../migrate.ts";
import { collectionsOf } from "../store.ts";
import { createReadNewestAnswer, newestOf } from "./stored-answers.ts";

const prefix = `t${randomBytes(5).toString("hex")}_`;
const connect = () =>
  connectMongo({
    uri: process.env.MONGODB_URI!,
    service: "test",
    logger: createLogger({ service: "test", level: "silent" }),
    stopping: new AbortController().signal,
  });

let client: MongoClient;
beforeAll(async () => {
  client = await connect();
  await migrate({ client, prefix });
});
afterAll(async () => {
  const databases = environmentDatabases(client, prefix, "verification");
  await Promise.all(Object.values(databases).map((db) => db.dropDatabase()));
  await client.close();
});

const answersOf = (of: MongoClient, environment: Tenant["environment"] = "live") =>
  collectionsOf(environmentDatabases(of, prefix, "verification")[environment]).answers;

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

const tenantOf = ({ organization_id }: AnswerDocument): Tenant => ({
  organizationId: organization_id,
  environment: "live",
});
const keyOf = ({ entity_id, check_type, inputs_fingerprint }: AnswerDocument) => ({
  entityId: entity_id,
  check: check_type,
  fingerprint: inputs_fingerprint,
});

/** Returns the reads of live answers during `work`, as the server's profiler saw them. */
async function readsOf(work: () => Promise<unknown>): Promise<Document[]> {
  const answers = answersOf(client);
  const { live } = environmentDatabases(client, prefix, "verification");
  await live.command({ profile: 2 });
  await work();
  await live.command({ profile: 0 });
  const profile = live.collection("system.profile");
  const reads = await profile.find({ ns: answers.namespace, "command.aggregate": answers.collectionName }).toArray();
  await profile.drop();
  return reads;
}

test("reads at the same moment share a command, in which each answer costs four index entries", async () => {
  const answers = answersOf(client);
  const wanted = Array.from({ length: 20 }, () => answerOf({}));
  const older = wanted.flatMap((each) =>
    [1, 2, 3].map((age) => ({ ...each, _id: newId("evd"), created_at: new Date(1_000_000 - age) })),
  );
  await answers.insertMany([...older, ...wanted]);
  const ask = createReadNewestAnswer(answers);
  const reads = await readsOf(async () => {
    const found = await Promise.all(wanted.map((each) => ask(tenantOf(each), keyOf(each))));
    expect(found).toEqual(wanted);
  });
  const costs = reads.map(({ keysExamined, docsExamined, nreturned }) => [keysExamined, docsExamined, nreturned]);
  expect(costs.toSorted((a, b) => a[0] - b[0])).toEqual([
    [4, 4, 4],
    [4, 4, 4],
    [72, 72, 72],
  ]);

  const { pipeline } = reads.find(({ nreturned }) => nreturned === 72)!.command as Document;
  const explained = await answers.db.command({
    explain: { aggregate: answers.collectionName, pipeline, cursor: {} },
    verbosity: "executionStats",
  });
  const text = JSON.stringify(explained);
  expect(text.match(/"stage":"IXSCAN"/g)!.length).toBeGreaterThanOrEqual(18);
  expect(text).not.toMatch(/"stage":"(SORT|COLLSCAN)"/);
});

test("a shared command returns each read the answer for its own tenant, entity, check and inputs, or null", async () => {
  const mine = answerOf({ outcome: "pass" });
  const others = [
    { ...mine, _id: newId("evd"), organization_id: newId("org") },
    { ...mine, _id: newId("evd"), entity_id: newId("ent") },
    { ...mine, _id: newId("evd"), check_type: "tin_match" as const },
    { ...mine, _id: newId("evd"), inputs_fingerprint: "another" },
  ];
  await answersOf(client).insertMany([mine, ...others]);
  await answersOf(client, "sandbox").insertOne({ ...mine, _id: newId("evd"), created_at: new Date(2_000_000) });
  const ask = createReadNewestAnswer(answersOf(client));
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
  await answersOf(client).insertMany([
    { ...answer, _id: higher! },
    { ...answer, _id: lower! },
  ]);
  const ask = createReadNewestAnswer(answersOf(client));
  expect(await ask(tenantOf(answer), keyOf(answer))).toMatchObject({ _id: higher });
});

test("every read fails where the database can't be read, also those that wait", async () => {
  const closed = await connect();
  await closed.close();
  const ask = createReadNewestAnswer(answersOf(closed));
  const answer = answerOf({});
  const settled = await Promise.allSettled(Array.from({ length: 40 }, () => ask(tenantOf(answer), keyOf(answer))));
  expect(new Set(settled.map(({ status }) => status))).toEqual(new Set(["rejected"]));
});

describe("among answers stored by overlapping calls", () => {
  const at = (seconds: number, registration: number, exclusions: number) => {
    const source = (date: number) => ({ origin: "sam_gov_api", date: new Date(date), load: "" });
    const none = { expiration_date: "", legal_name: "", cage: "", entity_type: "" };
    return answerOf({
      created_at: new Date(1_000_000 + seconds * 1_000),
      parts: {
        registration: { ...source(registration), listed_as: "active", id_only: false, ...none },
        exclusions: { ...source(exclusions), flagged: false, exclusions: [] },
      },
    });
  };

  test.each<[string, AnswerDocument[], number]>([
    ["the last, where it is as new", [at(9, 5, 5), at(0, 5, 5)], 0],
    ["the one before, where its parts are newer", [at(9, 5, 5), at(0, 6, 6)], 1],
    ["the one before, where one of its parts is newer", [at(9, 5, 5), at(0, 5, 6)], 1],
    ["the newest of several", [at(9, 5, 5), at(8, 6, 6), at(7, 7, 7), at(6, 6, 6)], 2],
    ["the last, where each has a newer part", [at(9, 5, 6), at(0, 6, 5)], 0],
    ["the last, where the other is too long ago to have overlapped", [at(61, 5, 5), at(0, 6, 6)], 0],
    ["the last, where they have no parts", [answerOf({}), answerOf({})], 0],
  ])("%s counts", (_name, answers, expected) => {
    expect(newestOf(answers)).toBe(answers[expected]);
  });

  test("is read from the store, only for the tenant that asks", async () => {
    const [last, before] = [at(9, 5, 5), at(0, 6, 6)];
    const mine = { organization_id: last.organization_id, entity_id: last.entity_id };
    await answersOf(client).insertMany([last, { ...before, ...mine }, { ...at(8, 7, 7), entity_id: last.entity_id }]);
    const read = createReadNewestAnswer(answersOf(client));
    expect((await read(tenantOf(last), keyOf(last)))?._id).toBe(before._id);
  });
});
