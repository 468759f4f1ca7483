import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Outbox } from "@vvs/outbox";
import { VerificationRequestedSchema } from "@vvs/proto/events/v1/events";
import { type Tenant, toProtoTenant } from "@vvs/tenant";
import type { ClientSession, Db } from "mongodb";
import type { MonitorDocument, RunDocument, RunEnd } from "./monitor.ts";
import { toProtoCheck } from "./names.ts";
import { collections } from "./store.ts";

export interface Runs {
  /** Stores the run that the monitor has just claimed, and asks for its verification, in the claim's transaction. */
  begin(tenant: Tenant, session: ClientSession, monitor: MonitorDocument): Promise<void>;
  /** Stores how a run ended. False where it had ended before, or is not kept any more. */
  end(tenant: Tenant, session: ClientSession, monitorId: string, end: RunEnd): Promise<boolean>;
}

export function createRuns(options: {
  db: Db;
  outbox: Outbox;
  /** The full name of the environment's verification.requested. */
  topic: string;
}): Runs {
  const { outbox, topic } = options;
  const { runs } = collections(options.db);
  return {
    async begin(tenant, session, monitor) {
      const run = runOf(tenant, monitor);
      await runs.insertOne(run, { session });
      const message = create(VerificationRequestedSchema, {
        recordId: run._id,
        tenant: toProtoTenant(tenant),
        run: { monitorId: run.monitor_id, runSeq: BigInt(run.run_seq) },
        entityId: monitor.entity_id,
        checks: monitor.checks.map(toProtoCheck),
        requestedAt: timestampFromDate(run.claimed_at),
      });
      const value = toBinary(VerificationRequestedSchema, message);
      await outbox.append(session, { id: run._id, topic, key: run.monitor_id, seq: run.run_seq, value });
    },
    async end(tenant, session, monitorId, end) {
      const open = {
        _id: runId(monitorId, end.runSeq),
        organization_id: tenant.organizationId,
        ended_at: { $exists: false },
      };
      const fields = { ended_at: end.at, outcome: end.outcome, verification_id: end.verificationId };
      const ended = await runs.updateOne(open, { $set: fields }, { session });
      return ended.matchedCount === 1;
    },
  };
}

function runOf(tenant: Tenant, monitor: MonitorDocument): RunDocument {
  return {
    _id: runId(monitor._id, monitor.run_seq),
    organization_id: tenant.organizationId,
    monitor_id: monitor._id,
    run_seq: monitor.run_seq,
    claimed_at: monitor.open_run!.claimed_at,
  };
}

/** The same for every claim of the same run, so that a second record of it has no effect. */
function runId(monitorId: string, runSeq: number): string {
  return `${monitorId}:${runSeq}`;
}
