import { timestampDate } from "@bufbuild/protobuf/wkt";
import { metrics } from "@opentelemetry/api";
import { checkOf } from "@vvs/checks";
import { PoisonRecordError, runIn, tenantIn } from "@vvs/kafka";
import type { VerificationRequested } from "@vvs/proto/events/v1/events";
import type { Environment } from "@vvs/tenant";
import { checksOf } from "../messages.ts";
import type { Asking } from "../questions/question.ts";
import type { VerificationStore } from "../store.ts";
import type { RequestedRun, VerifyRun } from "./verify-run.ts";

/** The queue of runs that wait for SAM.gov's API. */
export interface ParkingPlace {
  /** Returns whether the run waits already, or supersedes an older one of its monitor, which is then no longer verified. */
  arrive(run: RequestedRun): Promise<"new" | "parked" | "superseding">;
  /** Parks a run with its question, all or nothing. */
  park(run: RequestedRun, asking: Asking): Promise<void>;
  /** Removes the monitor's run, if it is this one or an older one, and its question where no other run waits for it. */
  leave(run: RequestedRun): Promise<void>;
  /** Removes the rows of a job, and the questions for which nobody else waits. */
  leaveRows(organizationId: string, jobId: string): Promise<void>;
}

/**
 * Creates the handler that makes the verification of a monitor's run, exactly once: a repeated record finds it and does
 * nothing. For an entity that no longer exists, a verification with errors is stored, so that the run ends. A run for which
 * SAM.gov's API must be asked is parked where there is a queue (`parking`), until its monitor is canceled. Errors: PoisonRecordError for a record that
 * contradicts itself or has no known check (unknown checks of a newer version are skipped and counted); any other error
 * means that something is unavailable.
 */
export function createMonitorRuns(options: {
  environment: Environment;
  store: Pick<VerificationStore, "hasRun">;
  verifyRun: VerifyRun;
  parking: ParkingPlace | undefined;
}): (record: VerificationRequested) => Promise<void> {
  const { environment, store, verifyRun, parking } = options;
  const unknownChecks = metrics.getMeter("verification").createCounter("verification_unknown_checks_skipped", {
    description: "Checks of monitors' runs that this version does not know. Expected only during a rollout.",
  });
  return async (record) => {
    const began = performance.now();
    const run = readRecord(record, environment);
    const skipped = record.checks.filter((type) => !checkOf(type)).length;
    if (skipped > 0) unknownChecks.add(skipped, { environment });
    const mayPark = parking && run.checks.includes("sam_registration");
    if (record.canceled) {
      if (mayPark) await parking.leave(run);
      return;
    }
    const [hasEnded, arrival] = await Promise.all([
      store.hasRun(run.tenant, run.recordId),
      mayPark && parking.arrive(run),
    ]);
    if (arrival === "parked") return;
    const asking = hasEnded ? undefined : await verifyRun(run, { began, mayAsk: Boolean(mayPark) });
    if (asking) await parking!.park(run, asking);
    else if (arrival === "superseding") await parking!.leave(run);
  };
}

function readRecord(record: VerificationRequested, environment: Environment): RequestedRun {
  const tenant = tenantIn(record, environment);
  const run = runIn(record);
  const known = record.checks.filter(checkOf);
  const { recordId, entityId } = record;
  if (!recordId || !entityId || known.length === 0) {
    throw new PoisonRecordError("the record names no entity, no id of its own, or no known check");
  }
  const requestedAt = record.requestedAt && timestampDate(record.requestedAt);
  return { recordId, tenant, run, entityId, checks: checksOf(known), requestedAt };
}
