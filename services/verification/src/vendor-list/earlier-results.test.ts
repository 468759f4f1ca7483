import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { CheckStatus } from "@vvs/checks";
import { newId } from "@vvs/ids";
import { migrateOutbox } from "@vvs/outbox";
import { CheckType, CheckStatus as ProtoCheckStatus } from "@vvs/proto/common/v1/common";
import { type TestMongo, testMongo } from "@vvs/testing";
import type { Db } from "mongodb";
import { latestId } from "../checks/latest-answers.ts";
import type { AnswerDocument, ResultDocument, VerificationDocument } from "../documents.ts";
import { collectionsOf } from "../store.ts";
import { completedIn } from "../testing/calls.ts";
import { createPublishEarlierResults, migrateEarlierResults, needed } from "./earlier-results.ts";

const TOPIC = "live.verification.completed.direct";
let mongo: TestMongo;
beforeAll(async () => {
  mongo = await testMongo();
  await migrateOutbox(mongo.db);
  await collectionsOf(mongo.db).verifications.createIndex({
    organization_id: 1,
    entity_id: 1,
    created_at: -1,
    _id: -1,
  });
});
afterAll(() => mongo.close());
beforeEach(async () => {
  const { verifications, latestAnswers } = collectionsOf(mongo.db);
  await Promise.all([verifications, latestAnswers].map((each) => each.deleteMany({})));
  await Promise.all(["outbox", "vendor_list_progress"].map((name) => mongo.db.collection(name).deleteMany({})));
  await migrateEarlierResults(mongo.db);
});

const replica = (db: Db = mongo.db) =>
  createPublishEarlierResults({
    environment: "live",
    client: mongo.client,
    db,
    topic: TOPIC,
    nudge: () => undefined,
  });
const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute));

type Outcome = Partial<Record<ResultDocument["check_type"], CheckStatus>>;
async function verified(organization_id: string, entity_id: string, minute: number, outcome: Outcome) {
  const results = Object.entries(outcome).map(([check_type, status]) => {
    return { check_type, status, reason: status === "fail" ? "excluded" : "", evidence_id: newId("evd") };
  });
  const verification = {
    _id: newId("ver", at(minute)),
    organization_id,
    entity_id,
    overall_result: "pass",
    results,
    run: { monitor_id: "mon_1", run_seq: 7 },
    created_at: at(minute),
  } as unknown as VerificationDocument;
  await collectionsOf(mongo.db).verifications.insertOne(verification);
  for (const { check_type, evidence_id, status } of results.filter((each) => each.status !== "error")) {
    const facts = {
      registration_status: status === "pass" ? "active" : "debarred",
      expiration_date: `2027-01-0${minute}`,
    };
    const answer = { _id: evidence_id, organization_id, entity_id, check_type, facts } as unknown as AnswerDocument;
    const _id = latestId({ ...answer, inputs_fingerprint: "" });
    await collectionsOf(mongo.db).latestAnswers.replaceOne({ _id }, { organization_id, answer }, { upsert: true });
  }
  return verification;
}

const published = () => completedIn(mongo.db);
async function untilDone(publish = replica()) {
  for (let rounds = 0; rounds < 20; rounds++) if ((await publish()) === "done") return;
  throw new Error("the rounds did not end");
}

describe("of each vendor's verifications", () => {
  test("the newest result and the newest answer of each check are published, without a run, with the answers' facts", async () => {
    await verified("org_1", "ent_1", 1, { sam_registration: "pass", tin_match: "pass" });
    await verified("org_1", "ent_1", 2, { sam_registration: "fail" });
    const newest = await verified("org_1", "ent_1", 3, { sam_registration: "error" });
    await verified("org_2", "ent_1", 1, { sam_registration: "pass" });
    await untilDone();
    const records = await published();
    expect(
      records.map(({ tenant, createdAt }) => [tenant!.organizationId, Number(createdAt!.seconds / 60n) % 60]),
    ).toEqual([
      ["org_1", 3],
      ["org_1", 2],
      ["org_1", 1],
      ["org_2", 1],
    ]);
    expect(records[0]).toMatchObject({ verificationId: newest._id, entityId: "ent_1" });
    expect(records.every(({ run }) => run === undefined)).toBe(true);
    expect(records[1]!.checks).toMatchObject([
      {
        checkType: CheckType.SAM_REGISTRATION,
        status: ProtoCheckStatus.FAIL,
        reason: "excluded",
        facts: { registration_status: "debarred", expiration_date: "2027-01-02" },
      },
    ]);
  });

  test.each<[string, Outcome[], number]>([
    ["nothing", [], 0],
    ["an answer", [{ sam_registration: "pass" }, { sam_registration: "fail" }], 1],
    [
      "errors before an answer",
      [{ sam_registration: "error" }, { sam_registration: "error" }, { sam_registration: "pass" }],
      2,
    ],
    ["another check later", [{ sam_registration: "pass" }, { tin_match: "pass", sam_registration: "fail" }], 2],
  ])("%s needs those that say something new", (_name, newestFirst, count) => {
    const verifications = newestFirst.map((outcome) => ({
      results: Object.entries(outcome).map(([check_type, status]) => ({ check_type, status })),
    }));
    expect(needed(verifications as unknown as VerificationDocument[])).toHaveLength(count);
  });
});

describe("earlier verifications are published", () => {
  const all = async (count: number) => {
    const ids = Array.from({ length: count }, (_, index) => `ent_${String(index).padStart(4, "0")}`);
    for (const id of ids) await verified(`org_${id.at(-1)}`, id, 1, { sam_registration: "pass" });
    return ids;
  };
  const entitiesOf = async () => (await published()).map(({ entityId }) => entityId).sort();

  test("in batches, once; what is stored later is not", async () => {
    const ids = await all(230);
    const publish = replica();
    expect([await publish(), await publish()]).toEqual(["more", "more"]);
    await untilDone();
    await verified("org_1", "ent_later", 2, { sam_registration: "pass" });
    await untilDone();
    expect(await entitiesOf()).toEqual(ids);
  });

  test("by two replicas at the same moment, each vendor once", async () => {
    const ids = await all(120);
    await Promise.all([untilDone(), untilDone()]);
    expect(await entitiesOf()).toEqual(ids);
  });

  test("completely, though a replica is killed in the middle of its transaction", async () => {
    const ids = await all(120);
    const killed = replica(withoutOutbox());
    await expect(killed()).rejects.toThrow("killed");
    await untilDone();
    expect(await entitiesOf()).toEqual(ids);
  });

  test("not before the migration", async () => {
    await mongo.db.collection("vendor_list_progress").deleteMany({});
    expect(await replica()()).toBe("not migrated");
    expect(await published()).toEqual([]);
  });
});

/** Returns the database of a replica that is killed in its transaction, after the progress and before the records. */
function withoutOutbox(): Db {
  return new Proxy(mongo.db, {
    get(db, name) {
      if (name !== "collection") return Reflect.get(db, name);
      const killed = { insertMany: () => Promise.reject(new Error("killed")) };
      return (collection: string) => (collection === "outbox" ? killed : db.collection(collection));
    },
  });
}
