import { AuditLogService } from "@vvs/proto/account/v1/audit_log";
import { type Callers, type ServicePart, servicePart } from "@vvs/rpc";
import { callerOf } from "@vvs/tenant";
import type { AccountDomain } from "../domain.ts";
import { AUDIT_KEPT_DAYS } from "./audit-entries.ts";
import { auditEntryMessage, auditQueryOf } from "./audit-messages.ts";

const callers: Callers<typeof AuditLogService> = {
  appendAuditEntry: ["webhook-dispatcher"],
  listAuditEntries: ["dashboard"],
};

/** AuditLogService. */
export function createAuditLogPart({ domain }: { domain: AccountDomain }): ServicePart {
  return servicePart({
    service: AuditLogService,
    callers,
    handlers: {
      async appendAuditEntry({ caller, action, target, details }) {
        await domain.auditLog.append(callerOf(caller), { action, target, details });
        return {};
      },

      async listAuditEntries({ caller, ...asked }) {
        const { entries, next } = await domain.auditLog.list(callerOf(caller), auditQueryOf(asked));
        return { entries: entries.map(auditEntryMessage), next, keptDays: AUDIT_KEPT_DAYS };
      },
    },
  });
}
