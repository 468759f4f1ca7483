import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Logger } from "@vvs/logging";
import type { AuditLogService } from "@vvs/proto/account/v1/audit_log";
import type { EntityService } from "@vvs/proto/entity/v1/entity";
import { type SupervisedLoop, superviseLoop } from "@vvs/retry";
import type { Client } from "@vvs/rpc";
import { type Environment, environments, toProtoCaller, toProtoEnvironment } from "@vvs/tenant";
import { createAskedVerifications, type ReportAsked } from "./asked-verifications.ts";

/** Pause between two rounds that report replaced TINs, in milliseconds. */
const TIN_PERIOD_MS = 10_000;

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

/**
 * Creates the round that adds the replaced TINs of one environment to the audit log. The entity service keeps them until
 * they are there; an entry that is sent again changes nothing, so a crash loses and doubles none. Returns how long to wait
 * for the next round, in milliseconds. Errors: those of both services; the next round makes up for it.
 */
export function createReportTinReplacements(options: {
  environment: Environment;
  entities: Pick<Client<typeof EntityService>, "takeTinReplacements">;
  auditLog: AuditLog;
}): { round: () => Promise<number> } {
  const { environment, entities, auditLog } = options;
  /** Ids of those that are in the audit log, and not marked so yet. */
  let recorded: string[] = [];
  return {
    async round() {
      const request = { environment: toProtoEnvironment(environment), recorded };
      const { replacements } = await entities.takeTinReplacements(request);
      recorded = [];
      for (const { id, at, previous, current, matched, ...by } of replacements) {
        const tenant = { organizationId: by.organizationId, environment };
        await auditLog.appendAuditEntry({
          caller: toProtoCaller({ tenant, actor: by.actor, requestId: by.requestId }),
          action: "vendor.tin_replaced",
          target: by.entityId,
          entryId: `vendor.tin_replaced:${id}`,
          at,
          details: { previous, current, because: matched ? "it matched" : "none had matched" },
        });
        recorded.push(id);
      }
      return recorded.length > 0 ? 0 : TIN_PERIOD_MS;
    },
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
