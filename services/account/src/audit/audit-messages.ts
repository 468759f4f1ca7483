import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import type { AuditEntrySchema, ListAuditEntriesRequest } from "@vvs/proto/account/v1/audit_log";
import { toProtoEnvironment } from "@vvs/tenant";
import type { AuditQuery, ReadableEntry } from "./audit-entries.ts";

/** Which part of the audit log a message asks for. Errors: invalid_request. */
export function auditQueryOf(asked: Omit<ListAuditEntriesRequest, "caller" | "$typeName">): AuditQuery {
  const after = asked.page?.after;
  if (after && !after.createdAt) {
    throw new ServiceError("invalid_request", {
      details: [{ path: "after", message: "is not a position in the log" }],
    });
  }
  return {
    actor: asked.actor,
    action: asked.action,
    from: asked.from && timestampDate(asked.from),
    to: asked.to && timestampDate(asked.to),
    limit: asked.page?.limit ?? 0,
    after: after && { at: timestampDate(after.createdAt!), id: after.id },
  };
}

/** An entry of the audit log as people read it. */
export function auditEntryMessage(readable: ReadableEntry): MessageInitShape<typeof AuditEntrySchema> {
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
