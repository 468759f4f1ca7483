import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type AppendAuditEntryRequest, type AuditEntrySchema, AuditLogService } from "@vvs/proto/account/v1/audit_log";
import { type ServicePart, servicePart } from "@vvs/rpc";
import { callerOf, toProtoEnvironment } from "@vvs/tenant";
import { reportedActions } from "../audit/audit.ts";
import type { ReportedEntry } from "../audit/reported-actions.ts";
import { AUDIT_KEPT_DAYS, type ReadableEntry } from "../audit-log/audit-entries.ts";
import type { KeysDomain } from "../domain.ts";
import { invalid } from "../refusals.ts";

export function createAuditLogPart({ domain }: { domain: KeysDomain }): ServicePart {
  return servicePart({
    service: AuditLogService,
    callers: { appendAuditEntry: Object.keys(reportedActions), listAuditEntries: ["dashboard"] },
    handlers: {
      async appendAuditEntry({ caller, action, target, details, ...request }, { caller: reporter }) {
        const entry = { reporter, action, target, details, ...knownOf(request) };
        await domain.auditLog.append(callerOf(caller), entry);
        return {};
      },

      async listAuditEntries(request) {
        const { entries, next } = await domain.auditLog.list(await domain.callersBySession.signedIn(request), request);
        return { entries: entries.map(auditEntryMessage), next, keptDays: AUDIT_KEPT_DAYS };
      },
    },
  });
}

/** Errors: invalid_request where an entry that may be sent again lacks a time. */
function knownOf(
  request: Pick<AppendAuditEntryRequest, "entryId" | "at" | "count" | "lastAt">,
): Pick<ReportedEntry, "known"> {
  const { entryId, at, count, lastAt } = request;
  if (entryId === "") return {};
  if (!at || (count > 0n && !lastAt)) throw invalid("at", "is missing");
  const counted = count > 0n ? { count: Number(count), lastAt: timestampDate(lastAt!) } : undefined;
  return { known: { entryId, at: timestampDate(at), counted } };
}

function auditEntryMessage(readable: ReadableEntry): MessageInitShape<typeof AuditEntrySchema> {
  const { entry, actorEmail, targetEmail } = readable;
  const details = Object.entries(entry.details ?? {}).map(([name, value]) => [name, String(value)]);
  return {
    id: entry._id.toHexString(),
    at: timestampFromDate(entry.at),
    actor: entry.actor,
    actorEmail,
    action: entry.action,
    target: entry.target,
    targetEmail,
    environment: entry.environment && toProtoEnvironment(entry.environment),
    clientAddress: entry.client_address,
    requestId: entry.request_id,
    details: Object.fromEntries(details),
  };
}
