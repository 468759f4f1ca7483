import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { expect, test } from "@jest/globals";
import type { AppendAuditEntryRequestSchema } from "@vvs/proto/account/v1/audit_log";
import { Environment } from "@vvs/proto/common/v1/common";
import { TakeTinReplacementsResponseSchema } from "@vvs/proto/entity/v1/entity";
import { createReportAsked, createReportTinReplacements } from "./report.ts";

test("an hour's verifications are one entry of their actor, whenever they are reported", async () => {
  const sent: MessageInitShape<typeof AppendAuditEntryRequestSchema>[] = [];
  const report = createReportAsked({
    async appendAuditEntry(request) {
      sent.push(request);
      return { $typeName: "vvs.account.v1.AppendAuditEntryResponse" };
    },
  });
  const [hour, firstAt, lastAt] = ["10:00", "10:05", "10:59"].map((time) => new Date(`2026-11-22T${time}:00Z`));
  const asked = {
    tenant: { organizationId: "org_1", environment: "live" },
    actor: "key_1",
    hour: hour!,
    firstAt: firstAt!,
  } as const;
  await report({ ...asked, count: 2, lastAt: firstAt! });
  await report({ ...asked, count: 9, lastAt: lastAt! });
  const entry = {
    caller: { tenant: { organizationId: "org_1", environment: Environment.LIVE }, actor: "key_1" },
    action: "verification.asked",
    target: "key_1",
    entryId: "verification.asked:key_1:2026-11-22T10:00:00.000Z",
    at: timestampFromDate(firstAt!),
  };
  expect(sent).toMatchObject([
    { ...entry, count: 2n },
    { ...entry, count: 9n, lastAt: timestampFromDate(lastAt!) },
  ]);
});

const at = timestampFromDate(new Date("2026-11-22T10:00:00Z"));
const replacement = (id: string, matched: boolean) => ({
  id,
  at,
  previous: "****0001",
  current: "****0002",
  matched,
  actor: "key_1",
  requestId: "req_1",
  entityId: "ent_1",
  organizationId: "org_1",
});

/** The round, beside simulated services. */
function start() {
  let kept = [replacement("r1", true), replacement("r2", false)];
  const entries: MessageInitShape<typeof AppendAuditEntryRequestSchema>[] = [];
  const simulated = { failure: undefined as Error | undefined };
  const { round } = createReportTinReplacements({
    environment: "live",
    entities: {
      async takeTinReplacements({ environment, recorded = [] }) {
        expect(environment).toBe(Environment.LIVE);
        kept = kept.filter(({ id }) => !recorded.includes(id));
        return create(TakeTinReplacementsResponseSchema, { replacements: kept });
      },
    },
    auditLog: {
      async appendAuditEntry(request) {
        if (simulated.failure && entries.length > 0) throw simulated.failure;
        entries.push(request);
        return { $typeName: "vvs.account.v1.AppendAuditEntryResponse" };
      },
    },
  });
  return { round, entries, simulated, kept: () => kept.map(({ id }) => id) };
}

test("each replaced TIN becomes one entry of who supplied the new one, masked, and is then marked", async () => {
  const { round, entries, kept } = start();
  expect(await round()).toBe(0);
  const entry = {
    caller: { tenant: { organizationId: "org_1", environment: Environment.LIVE }, actor: "key_1", requestId: "req_1" },
    action: "vendor.tin_replaced",
    target: "ent_1",
    at,
  };
  expect(entries).toMatchObject([
    {
      ...entry,
      entryId: "vendor.tin_replaced:r1",
      details: { previous: "****0001", current: "****0002", because: "it matched" },
    },
    { ...entry, entryId: "vendor.tin_replaced:r2", details: { because: "none had matched" } },
  ]);
  expect(await round()).toBeGreaterThan(0);
  expect(kept()).toEqual([]);
  expect(entries).toHaveLength(2);
});

test("those that the audit log could not take are reported by the next round", async () => {
  const { round, entries, simulated, kept } = start();
  simulated.failure = new Error("account is unavailable");
  await expect(round()).rejects.toThrow("unavailable");
  simulated.failure = undefined;
  await round();
  await round();
  expect(entries.map(({ entryId }) => entryId)).toEqual(["vendor.tin_replaced:r1", "vendor.tin_replaced:r2"]);
  expect(kept()).toEqual([]);
});
