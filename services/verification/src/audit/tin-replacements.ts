import type { AuditLogService } from "@vvs/proto/account/v1/audit_log";
import type { EntityService } from "@vvs/proto/entity/v1/entity";
import type { Client } from "@vvs/rpc";
import { type Environment, toProtoCaller, toProtoEnvironment } from "@vvs/tenant";

/** Pause between two rounds, in milliseconds. */
const PERIOD_MS = 10_000;

/**
 * Creates the round that adds the replaced TINs of one environment to the audit log. The entity service keeps them until
 * they are there; an entry that is sent again changes nothing, so a crash loses and doubles none. Returns how long to wait
 * for the next round, in milliseconds. Errors: those of both services; the next round makes up for it.
 */
export function createReportTinReplacements(options: {
  environment: Environment;
  entities: Pick<Client<typeof EntityService>, "takeTinReplacements">;
  auditLog: Pick<Client<typeof AuditLogService>, "appendAuditEntry">;
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
      return recorded.length > 0 ? 0 : PERIOD_MS;
    },
  };
}
