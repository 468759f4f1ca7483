import { beforeEach, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { testMongo } from "@vvs/testing";
import type { VerificationDocument } from "../documents.ts";
import { collectionsOf } from "../store.ts";
import { type AskedVerifications, createAskedVerifications, migrateAskedVerifications } from "./asked-verifications.ts";

const HOUR_MS = 3_600_000;
let start: Date;
let now: Date;
/** What the audit log has, by organization, actor and hour. */
let log: Map<string, AskedVerifications>;
let reports: number;
let failure: (() => void) | undefined;

const mongo = await testMongo();
beforeEach(async () => {
  log = new Map();
  reports = 0;
  failure = undefined;
  await Promise.all([mongo.db.collection("audit_progress").deleteMany({}), verifications().deleteMany({})]);
  await migrateAskedVerifications(mongo.db);
  start = (await mongo.db.collection("audit_progress").findOne({}))!.complete_until;
  now = new Date(start.getTime() + 59 * 60_000);
});

const verifications = () => collectionsOf(mongo.db).verifications;
const at = (minutes: number) => new Date(start.getTime() + minutes * 60_000);
const replica = () =>
  createAskedVerifications({
    environment: "live",
    db: mongo.db,
    now: () => now,
    async report(asked) {
      failure?.();
      reports += 1;
      const key = `${asked.tenant.organizationId} ${asked.actor} ${(asked.hour.getTime() - start.getTime()) / HOUR_MS}`;
      if (asked.count >= (log.get(key)?.count ?? 0)) log.set(key, asked);
    },
  });
const counts = () => Object.fromEntries([...log].map(([key, { count }]) => [key, count]));
async function verified(
  organization_id: string,
  actor: string,
  minutes: number,
  more: Partial<VerificationDocument> = {},
) {
  const created_at = at(minutes);
  const document = { _id: newId("ver", created_at), organization_id, actor, created_at, ...more };
  await verifications().insertOne(document as VerificationDocument);
}
/** Lets the next report be due at this minute, and makes a round. */
async function roundAt(minutes: number, by = replica()) {
  now = at(minutes);
  await by.round();
}

test("verifications are counted by organization, actor and hour, without those of monitors", async () => {
  for (const minutes of [0, 10, 59.999]) await verified("org_1", "key_1", minutes);
  await verified("org_1", "usr_1", 20);
  await verified("org_2", "key_1", 20);
  await verified("org_1", "key_1", 60);
  await verified("org_1", "key_1", 30, { run: { monitor_id: "mon_1", run_seq: 2 } });
  await roundAt(61);
  expect(counts()).toEqual({ "org_1 key_1 0": 3, "org_1 usr_1 0": 1, "org_2 key_1 0": 1, "org_1 key_1 1": 1 });
  expect(log.get("org_1 key_1 0")).toEqual({
    tenant: { organizationId: "org_1", environment: "live" },
    actor: "key_1",
    hour: start,
    count: 3,
    firstAt: at(0),
    lastAt: at(59.999),
  });
});

test("a verification that commits after its hour was reported is counted by the next report", async () => {
  await verified("org_1", "key_1", 58);
  await roundAt(61);
  await verified("org_1", "key_1", 59);
  await roundAt(71);
  expect(counts()).toEqual({ "org_1 key_1 0": 2 });
});

test("an outage of hours loses no hour", async () => {
  for (const minutes of [10, 70, 130, 250]) await verified("org_1", "key_1", minutes);
  failure = () => {
    throw new Error("account is unavailable");
  };
  await expect(roundAt(61)).rejects.toThrow("account is unavailable");
  await expect(roundAt(100)).rejects.toThrow("account is unavailable");
  failure = undefined;
  await roundAt(300);
  expect(counts()).toEqual({ "org_1 key_1 0": 1, "org_1 key_1 1": 1, "org_1 key_1 2": 1, "org_1 key_1 4": 1 });
});

test("a replica that is killed during a report is followed by another one, which reports the hour again", async () => {
  await verified("org_1", "key_1", 5);
  await verified("org_2", "key_2", 6);
  const never = new Promise<never>(() => undefined);
  const reached = Promise.withResolvers<void>();
  const killed = createAskedVerifications({
    environment: "live",
    db: mongo.db,
    now: () => now,
    report() {
      reached.resolve();
      return never;
    },
  });
  now = at(70);
  void killed.round();
  await reached.promise;
  await roundAt(71);
  expect(log.size).toBe(0);
  await roundAt(80);
  expect(counts()).toEqual({ "org_1 key_1 0": 1, "org_2 key_2 0": 1 });
});

test("one of many replicas reports in a period, and a complete hour is not read again", async () => {
  await verified("org_1", "key_1", 5);
  now = at(70);
  await Promise.all(Array.from({ length: 5 }, () => replica().round()));
  expect(reports).toBe(1);
  await roundAt(90);
  expect(reports).toBe(1);
});

test("a migration beside services leaves the progress as it is", async () => {
  await verified("org_1", "key_1", 5);
  await roundAt(70);
  await migrateAskedVerifications(mongo.db);
  await roundAt(90);
  expect(reports).toBe(1);
});
