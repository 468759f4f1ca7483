import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { createLogger } from "@vvs/logging";
import { connectMongo, environmentDatabases } from "@vvs/mongo";
import type { Tenant } from "@vvs/tenant";
import type { Document, MongoClient } from "mongodb";
import type { AnswerDocument } from "./documents.ts";
import { migrate } from "./migrate.ts";
import { createNewestAnswers } from "./newest-answers.ts";
import { collectionsOf } from "./store.ts";

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
  collectionsOf(environmentDatabases(of, prefix, "verification"), environment).answers;

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

/** The reads of the live answers that `work` made, as the server saw them. */
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

test("who asks while others are read shares a command, in which each answer costs one index entry", async () => {
  const answers = answersOf(client);
  const wanted = Array.from({ length: 20 }, () => answerOf({}));
  const older = wanted.flatMap((each) =>
    [1, 2, 3].map((age) => ({ ...each, _id: newId("evd"), created_at: new Date(1_000_000 - age) })),
  );
  await answers.insertMany([...older, ...wanted]);
  const ask = createNewestAnswers(answers);
  const reads = await readsOf(async () => {
    const found = await Promise.all(wanted.map((each) => ask(tenantOf(each), keyOf(each))));
    expect(found).toEqual(wanted);
  });
  const costs = reads.map(({ keysExamined, docsExamined, nreturned }) => [keysExamined, docsExamined, nreturned]);
  expect(costs.toSorted((a, b) => a[0] - b[0])).toEqual([
    [1, 1, 1],
    [1, 1, 1],
    [18, 18, 18],
  ]);

  const { pipeline } = reads.find(({ nreturned }) => nreturned === 18)!.command as Document;
  const explained = await answers.db.command({
    explain: { aggregate: answers.collectionName, pipeline, cursor: {} },
    verbosity: "executionStats",
  });
  const text = JSON.stringify(explained);
  expect(text.match(/"stage":"IXSCAN"/g)!.length).toBeGreaterThanOrEqual(18);
  expect(text).not.toMatch(/"stage":"(SORT|COLLSCAN)"/);
});

test("a shared command gives each the answer to its own tenant, entity, check and inputs, and null where there is none", async () => {
  const mine = answerOf({ outcome: "pass" });
  const others = [
    { ...mine, _id: newId("evd"), organization_id: newId("org") },
    { ...mine, _id: newId("evd"), entity_id: newId("ent") },
    { ...mine, _id: newId("evd"), check_type: "tin_match" as const },
    { ...mine, _id: newId("evd"), inputs_fingerprint: "another" },
  ];
  await answersOf(client).insertMany([mine, ...others]);
  await answersOf(client, "sandbox").insertOne({ ...mine, _id: newId("evd"), created_at: new Date(2_000_000) });
  const ask = createNewestAnswers(answersOf(client));
  const nobodys = [
    { ...mine, organization_id: newId("org") },
    { ...others[0]!, check_type: "tin_match" as const },
  ];
  const all = [mine, ...others, ...nobodys, mine];
  const found = await Promise.all([...all, ...all].map((each) => ask(tenantOf(each), keyOf(each))));
  const expected = [mine, ...others, null, null, mine];
  expect(found).toEqual([...expected, ...expected]);
});

test("of answers of one moment the one with the higher id is the newest", async () => {
  const [lower, higher] = [newId("evd"), newId("evd")].sort();
  const answer = answerOf({});
  await answersOf(client).insertMany([
    { ...answer, _id: higher! },
    { ...answer, _id: lower! },
  ]);
  const ask = createNewestAnswers(answersOf(client));
  expect(await ask(tenantOf(answer), keyOf(answer))).toMatchObject({ _id: higher });
});

test("where the database can't be read everybody who asked is told, those that wait included", async () => {
  const closed = await connect();
  await closed.close();
  const ask = createNewestAnswers(answersOf(closed));
  const answer = answerOf({});
  const settled = await Promise.allSettled(Array.from({ length: 40 }, () => ask(tenantOf(answer), keyOf(answer))));
  expect(new Set(settled.map(({ status }) => status))).toEqual(new Set(["rejected"]));
});
