import { randomUUID } from "node:crypto";
import { create, fromBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { deterministicId, newId } from "@vvs/ids";
import { PoisonRecordError } from "@vvs/kafka";
import { createLogger } from "@vvs/logging";
import { connectMongo, environmentDatabases } from "@vvs/mongo";
import { createOutbox } from "@vvs/outbox";
import { CheckStatus, CheckType } from "@vvs/proto/common/v1/common";
import { ChangeDetectedSchema, VerificationCompletedSchema } from "@vvs/proto/events/v1/events";
import { type Tenant, toProtoTenant } from "@vvs/tenant";
import type { Db, MongoClient } from "mongodb";
import { createDetection } from "./detection.ts";
import { migrate } from "./migrate.ts";
import { collections, createBaselineStore } from "./store.ts";

const TOPIC = "sandbox.monitor.change_detected";
const now = new Date("2026-03-01T08:00:00.000Z");
const logger = createLogger({ service: "change-detector", level: "silent" });
let client: MongoClient;
let databases: readonly Db[];
let db: Db;
let detect: ReturnType<typeof createDetection>;

beforeAll(async () => {
  const stopping = new AbortController().signal;
  client = await connectMongo({ uri: process.env.MONGODB_URI!, service: "change-detector", logger, stopping });
  const prefix = `t${randomUUID().slice(0, 8)}_`;
  await migrate({ client, prefix });
  const { live, sandbox } = environmentDatabases(client, prefix, "change-detector");
  databases = [live, sandbox];
  db = sandbox;
  detect = createDetection({
    environment: "sandbox",
    client,
    store: createBaselineStore(db),
    outbox: createOutbox({ db }),
    topic: TOPIC,
    nudge: () => undefined,
    now: () => now,
    logger,
  });
});
afterAll(async () => {
  for (const each of databases) await each.dropDatabase();
  await client.close();
});

const newTenant = (): Tenant => ({ organizationId: newId("org"), environment: "sandbox" });

/** A run in which SAM says so, and the TIN matches. */
function run(monitor: { tenant: Tenant; id: string }, seq: number, registration: string) {
  const inputsFingerprint = Buffer.from("inputs");
  const status = registration === "active" ? CheckStatus.PASS : CheckStatus.FAIL;
  return create(VerificationCompletedSchema, {
    verificationId: newId("ver"),
    tenant: toProtoTenant(monitor.tenant),
    entityId: newId("ent"),
    run: { monitorId: monitor.id, runSeq: BigInt(seq) },
    checks: [
      {
        checkType: CheckType.SAM_REGISTRATION,
        status,
        inputsFingerprint,
        facts: { registration_status: registration },
      },
      { checkType: CheckType.TIN_MATCH, status: CheckStatus.PASS, inputsFingerprint },
    ],
    overallResult: status,
    createdAt: timestampFromDate(now),
  });
}
const newMonitor = () => ({ tenant: newTenant(), id: newId("mon") });
async function publishedOf(monitorId: string) {
  const rows = await db.collection("outbox").find({ topic: TOPIC, key: monitorId }).sort({ seq: 1 }).toArray();
  return rows.map((row) => fromBinary(ChangeDetectedSchema, row.value.buffer));
}
const seqOf = async (monitorId: string) =>
  (await collections(db).baselines.find({ monitor_id: monitorId }).toArray()).map(({ run_seq }) => run_seq);

describe("a run", () => {
  test("that differs from the one before is published with what changed", async () => {
    const monitor = newMonitor();
    await detect(run(monitor, 1, "active"));
    expect(await publishedOf(monitor.id)).toEqual([]);
    const second = run(monitor, 2, "expired");
    await detect(second);
    expect(await publishedOf(monitor.id)).toMatchObject([
      {
        eventId: deterministicId("evt", now, [monitor.id, second.verificationId]),
        tenant: { organizationId: monitor.tenant.organizationId },
        run: { monitorId: monitor.id, runSeq: 2n },
        entityId: second.entityId,
        verificationId: second.verificationId,
        changes: [
          { field: "sam_registration.status", previous: "pass", current: "fail" },
          { field: "sam_registration.registration_status", previous: "active", current: "expired" },
        ],
      },
    ]);
  });

  test("that comes again, even at the same time, has one effect", async () => {
    const monitor = newMonitor();
    await detect(run(monitor, 1, "active"));
    const second = run(monitor, 2, "expired");
    await Promise.allSettled([detect(second), detect(second), detect(second)]);
    await detect(second);
    await detect(run(monitor, 3, "active"));
    await detect(second);
    expect((await publishedOf(monitor.id)).map(({ run }) => run?.runSeq)).toEqual([2n, 3n]);
    expect(await seqOf(monitor.id)).toEqual([3, 3]);
  });

  test("that comes after a newer one moves no baseline and tells of no change", async () => {
    const monitor = newMonitor();
    await detect(run(monitor, 1, "active"));
    await detect(run(monitor, 3, "active"));
    await detect(run(monitor, 2, "expired"));
    await detect(run(monitor, 4, "active"));
    expect(await publishedOf(monitor.id)).toEqual([]);
    expect(await seqOf(monitor.id)).toEqual([4, 4]);
  });

  test("of another organization has no part in the baseline, whatever monitor it names", async () => {
    const monitor = newMonitor();
    await detect(run(monitor, 1, "active"));
    await expect(detect(run({ tenant: newTenant(), id: monitor.id }, 2, "expired"))).rejects.toThrow();
    expect(await publishedOf(monitor.id)).toEqual([]);
    expect(await seqOf(monitor.id)).toEqual([1, 1]);
  });
});

describe("a record", () => {
  test("of an API call leaves no trace", async () => {
    const record = { ...run(newMonitor(), 1, "active"), run: undefined };
    await detect(record);
    expect(await collections(db).handled.findOne({ _id: record.verificationId })).toBeNull();
  });

  const good = () => run(newMonitor(), 1, "active");
  test.each([
    ["without a tenant", () => ({ ...good(), tenant: undefined })],
    [
      "of the other environment",
      () => run({ tenant: { ...newTenant(), environment: "live" }, id: "mon_1" }, 1, "active"),
    ],
    ["without a verification", () => ({ ...good(), verificationId: "" })],
    ["without a run's number", () => run(newMonitor(), 0, "active")],
    [
      "with a check of no type",
      () => ({ ...good(), checks: good().checks.map((check) => ({ ...check, checkType: 0 })) }),
    ],
    [
      "with a check of no status",
      () => ({ ...good(), checks: good().checks.map((check) => ({ ...check, status: 0 })) }),
    ],
  ])("%s is put aside", async (_name, record) => {
    await expect(detect(record())).rejects.toBeInstanceOf(PoisonRecordError);
  });
});
