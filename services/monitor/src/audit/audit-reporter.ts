import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import type { Logger } from "@vvs/logging";
import { createLeases, type LeasedWork, type Leases, runLeasedWork } from "@vvs/outbox";
import type { AuditLogService } from "@vvs/proto/account/v1/audit_log";
import type { Client } from "@vvs/rpc";
import { type Environment, toProtoCaller } from "@vvs/tenant";
import type { Db } from "mongodb";
import { type AuditEntryDocument, auditEntriesOf } from "./audit-entries.ts";

/** Maximum number of entries that are reported at the same time. */
const BATCH = 20;
/** Pause between two searches for entries, in milliseconds: nobody waits for them. */
const POLL_MS = 2_000;

/** Adds an entry to the audit log; called again for the same entry, it has no further effect. */
export type ReportEntry = (entry: AuditEntryDocument) => Promise<void>;

/** Returns the function that reports an environment's entries to account. */
export function createReportEntry(
  auditLog: Pick<Client<typeof AuditLogService>, "appendAuditEntry">,
  environment: Environment,
): ReportEntry {
  return async (entry) => {
    const { organization_id: organizationId, actor, request_id: requestId, client_address: clientAddress } = entry;
    await auditLog.appendAuditEntry({
      caller: toProtoCaller({
        tenant: { organizationId, environment },
        actor,
        requestId,
        ...(clientAddress && { clientAddress }),
      }),
      action: entry.action,
      target: entry.monitor_id,
      details: entry.details,
      entryId: entry._id,
      at: timestampFromDate(entry.at),
    });
  };
}

/**
 * Reports the entries of the held shards, and removes each once the audit log has it. After a crash in between, or by two
 * replicas, an entry is reported again, which changes nothing. One that account refuses stays, as a newer version may take
 * it, and holds up no other. Errors: those of the report and of the database; nothing is lost.
 */
export async function reportEntries(
  db: Db,
  { leases, report }: { leases: Pick<Leases, "held">; report: ReportEntry },
): Promise<void> {
  const entries = auditEntriesOf(db);
  let refusal: ServiceError | undefined;
  for (let after = ""; ; ) {
    const found = await entries
      .find({ shard: { $in: [...leases.held()] }, _id: { $gt: after } })
      .sort({ _id: 1 })
      .limit(BATCH)
      .toArray();
    if (found.length === 0) break;
    const outcomes = await Promise.allSettled(found.map(report));
    await entries.deleteMany({
      _id: { $in: found.filter((_, i) => outcomes[i]!.status === "fulfilled").map(({ _id }) => _id) },
    });
    for (const outcome of outcomes) {
      if (outcome.status === "fulfilled") continue;
      if (!isRefusal(outcome.reason)) throw outcome.reason;
      refusal = outcome.reason;
    }
    after = found.at(-1)!._id;
  }
  if (refusal) throw refusal;
}

function isRefusal(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.code === "invalid_request";
}

/** Reports entries until stopped. The replicas of the service share them. */
export function runAuditReporter(options: { db: Db; report: ReportEntry; logger: Logger }): LeasedWork {
  const { db, report, logger } = options;
  const leases = createLeases({ db, name: "audit_reporter" });
  return runLeasedWork({ leases, pollMs: POLL_MS, work: () => reportEntries(db, { leases, report }), logger });
}
