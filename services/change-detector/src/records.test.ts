import { randomUUID } from "node:crypto";
import { create, fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { afterAll, describe, expect, test } from "@jest/globals";
import { deterministicId, newId } from "@vvs/ids";
import { PoisonRecordError } from "@vvs/kafka";
import { createLogger } from "@vvs/logging";
import { connectMongo, environmentDatabases } from "@vvs/mongo";
import { CheckStatus, CheckType } from "@vvs/proto/common/v1/common";
import {
  ChangeDetectedSchema,
  RegistrationPartsSchema,
  VerificationCompletedSchema,
} from "@vvs/proto/events/v1/events";
import { type Tenant, toProtoTenant } from "@vvs/tenant";
import { migrate } from "./migrate.ts";
import { createHandleCompleted } from "./records.ts";
import { collections } from "./store.ts";

const TOPIC = "sandbox.monitor.change_detected";
const now = new Date("2026-03-01T08:00:00.000Z");
const logger = createLogger({ service: "change-detector", level: "silent" });
const stopping = AbortSignal.abort();
const client = await connectMongo({ uri: process.env.MONGODB_URI!, service: "change-detector", logger, stopping });
const prefix = `t${randomUUID().slice(0, 8)}_`;
await migrate({ client, prefix });
const { live, sandbox: db } = environmentDatabases(client, prefix, "change-detector");
afterAll(async () => {
  for (const each of [live, db]) await each.dropDatabase();
  await client.close();
});
const options = { client, db, topic: TOPIC, nudge: () => undefined, now: () => now, logger };
const detect = createHandleCompleted({ ...options, environment: "sandbox" });

const newTenant = (): Tenant => ({ organizationId: newId("org"), environment: "sandbox" });

/** A run in which SAM.gov reports this registration status and the TIN matches. */
function run(monitor: { tenant: Tenant; id: string }, seq: number, registration: string) {
  const inputsFingerprint = Buffer.from("inputs");
  const status = registration === "active" ? CheckStatus.PASS : CheckStatus.FAIL;
  return create(VerificationCompletedSchema, {
    verificationId: newId("ver"),
    tenant: toProtoTenant(monitor.tenant),
    entityId: newId("ent"),
    externalId: "E-1",
    entityName: "Blue Harbor LLC",
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
  test("that differs from the previous one is published with its changes", async () => {
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
        externalId: "E-1",
        entityName: "Blue Harbor LLC",
        verificationId: second.verificationId,
        changes: [
          { field: "sam_registration.status", previous: "pass", current: "fail" },
          { field: "sam_registration.registration_status", previous: "active", current: "expired" },
        ],
      },
    ]);
  });

  test("of another TIN that ends in the same digits is published", async () => {
    const monitor = newMonitor();
    for (const [seq, tin] of ["one", "two", "two"].entries()) {
      const record = run(monitor, seq + 1, "active");
      Object.assign(record.checks[1]!, { tinFingerprint: Buffer.from(tin), facts: { tin: "****6789" } });
      await detect(record);
    }
    expect((await publishedOf(monitor.id)).map(({ run, changes }) => [run?.runSeq, changes])).toMatchObject([
      [2n, [{ field: "tin_match.tin", previous: "****6789", current: "****6789" }]],
    ]);
  });

  test("that is delivered again, even concurrently, has one effect", async () => {
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

  test("that arrives after a newer one leaves the baseline and reports no change", async () => {
    const monitor = newMonitor();
    await detect(run(monitor, 1, "active"));
    await detect(run(monitor, 3, "active"));
    await detect(run(monitor, 2, "expired"));
    await detect(run(monitor, 4, "active"));
    expect(await publishedOf(monitor.id)).toEqual([]);
    expect(await seqOf(monitor.id)).toEqual([4, 4]);
  });

  test("of another organization never changes the baseline, even if it names the monitor", async () => {
    const monitor = newMonitor();
    await detect(run(monitor, 1, "active"));
    const foreign = run({ tenant: newTenant(), id: monitor.id }, 2, "expired");
    await expect(detect(foreign)).rejects.toBeInstanceOf(PoisonRecordError);
    const known = run(monitor, 2, "active");
    await detect(known);
    const borrowed = { ...run(newMonitor(), 1, "active"), verificationId: known.verificationId };
    await expect(detect(borrowed)).rejects.toBeInstanceOf(PoisonRecordError);
    expect(await publishedOf(monitor.id)).toEqual([]);
    expect(await seqOf(monitor.id)).toEqual([2, 2]);
  });
});

describe("a record", () => {
  test("of an API call is ignored", async () => {
    const record = { ...run(newMonitor(), 1, "active"), run: undefined };
    await detect(record);
    expect(await collections(db).handled.findOne({ _id: record.verificationId })).toBeNull();
  });

  test("with a check that only a newer version knows is compared without it", async () => {
    const monitor = newMonitor();
    await detect(run(monitor, 1, "active"));
    const second = run(monitor, 2, "expired");
    second.checks[1]!.checkType = 99 as CheckType;
    second.checks[1]!.status = 99 as CheckStatus;
    await detect(second);
    expect((await publishedOf(monitor.id)).map(({ run }) => run?.runSeq)).toEqual([2n]);
    expect((await seqOf(monitor.id)).sort()).toEqual([1, 2]);
  });

  const good = () => run(newMonitor(), 1, "active");
  const at = { origin: "sam_gov_api", date: timestampFromDate(now) };
  const withParts = (parts: MessageInitShape<typeof RegistrationPartsSchema>) => {
    const record = good();
    record.checks[0]!.parts = create(RegistrationPartsSchema, parts);
    return record;
  };
  test.each([
    ["without a tenant", () => ({ ...good(), tenant: undefined })],
    [
      "of the other environment",
      () => run({ tenant: { ...newTenant(), environment: "live" }, id: "mon_1" }, 1, "active"),
    ],
    ["without a tenant, also without a run", () => ({ ...good(), tenant: undefined, run: undefined })],
    [
      "with a check of a status that only a newer version knows",
      () => ({ ...good(), checks: good().checks.map((check) => ({ ...check, status: 99 as CheckStatus })) }),
    ],
    ["without a verification", () => ({ ...good(), verificationId: "" })],
    ["without a run's number", () => run(newMonitor(), 0, "active")],
    ["with a part without a date", () => withParts({ exclusions: { source: { origin: "sam_gov_api" } } })],
    ["with a registration of an unknown status", () => withParts({ registration: { source: at, listedAs: "later" } })],
    [
      "with a check without a type",
      () => ({ ...good(), checks: good().checks.map((check) => ({ ...check, checkType: 0 })) }),
    ],
    [
      "with a check without a status",
      () => ({ ...good(), checks: good().checks.map((check) => ({ ...check, status: 0 })) }),
    ],
  ])("%s is sent to the dead letters", async (_name, record) => {
    await expect(detect(record())).rejects.toBeInstanceOf(PoisonRecordError);
  });
});
