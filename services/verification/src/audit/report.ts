import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Logger } from "@vvs/logging";
import type { AuditLogService } from "@vvs/proto/account/v1/audit_log";
import { type SupervisedLoop, superviseLoop } from "@vvs/retry";
import type { Client } from "@vvs/rpc";
import { environments, toProtoCaller } from "@vvs/tenant";
import { createAskedVerifications, type ReportAsked } from "./asked-verifications.ts";
import { createReportTinReplacements } from "./tin-replacements.ts";

type AuditLog = Pick<Client<typeof AuditLogService>, "appendAuditEntry">;

/** Returns the function that reports verifications to account: one entry for each actor and hour. */
export function createReportAsked(auditLog: AuditLog): ReportAsked {
  return async ({ tenant, actor, hour, count, firstAt, lastAt }) => {
    await auditLog.appendAuditEntry({
      caller: toProtoCaller({ tenant, actor, requestId: "" }),
      action: "verification.asked",
      target: actor,
      entryId: `verification.asked:${actor}:${hour.toISOString()}`,
      at: timestampFromDate(firstAt),
      count: BigInt(count),
      lastAt: timestampFromDate(lastAt),
    });
  };
}

/** Reports the verifications and the replaced TINs of both environments until stopped. */
export function runAuditReports(
  options: Omit<Parameters<typeof createAskedVerifications>[0], "environment" | "db" | "report"> & {
    databases: Readonly<Record<(typeof environments)[number], Parameters<typeof createAskedVerifications>[0]["db"]>>;
    auditLog: AuditLog;
    entities: Parameters<typeof createReportTinReplacements>[0]["entities"];
    stopping: AbortSignal;
    logger: Logger;
  },
): readonly SupervisedLoop[] {
  const { databases, auditLog, entities, stopping, logger } = options;
  const report = createReportAsked(auditLog);
  const common = { backoff: { firstMs: 1_000, longestMs: 60_000 }, stopping, logger };
  return environments.flatMap((environment) => [
    superviseLoop({
      ...createAskedVerifications({ ...options, environment, db: databases[environment], report }),
      failure: "verifications can't be reported to the audit log; retrying",
      recovery: "verifications are reported to the audit log again",
      ...common,
    }),
    superviseLoop({
      ...createReportTinReplacements({ environment, entities, auditLog }),
      failure: "replaced TINs can't be reported to the audit log; retrying",
      recovery: "replaced TINs are reported to the audit log again",
      ...common,
    }),
  ]);
}
