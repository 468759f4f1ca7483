import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { expect, test } from "@jest/globals";
import type { AppendAuditEntryRequestSchema } from "@vvs/proto/account/v1/audit_log";
import { Environment } from "@vvs/proto/common/v1/common";
import { createReportAsked } from "./report.ts";

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
