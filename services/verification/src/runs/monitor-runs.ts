import { metrics } from "@opentelemetry/api";
import { checkOf } from "@vvs/checks";
import { ServiceError } from "@vvs/errors";
import { PoisonRecordError, runIn, tenantIn } from "@vvs/kafka";
import type { VerificationRequested } from "@vvs/proto/events/v1/events";
import type { Environment } from "@vvs/tenant";
import type { CheckSubject } from "../checks/check-inputs.ts";
import type { Subjects } from "../checks/subjects.ts";
import type { VerificationRequest, Verifier } from "../checks/verifier.ts";
import { checksOf } from "../messages.ts";
import { DuplicateRunError, type VerificationStore } from "../store.ts";

/**
 * Creates the handler that makes the verification of a monitor's run, exactly once: a repeated record finds it and does
 * nothing. For an entity that no longer exists, a verification with errors is stored, so that the run ends. Errors:
 * PoisonRecordError for a record that contradicts itself or has no known check (unknown checks of a newer version are
 * skipped and counted); any other error means that something is unavailable.
 */
export function createMonitorRuns(options: {
  environment: Environment;
  store: Pick<VerificationStore, "hasRun">;
  subjects: Pick<Subjects, "read">;
  verifier: Verifier;
}): (record: VerificationRequested) => Promise<void> {
  const { environment, store, subjects, verifier } = options;
  const unknownChecks = metrics.getMeter("verification").createCounter("verification_unknown_checks_skipped", {
    description: "Checks of monitors' runs that this version does not know. Expected only during a rollout.",
  });
  return async (record) => {
    const began = performance.now();
    const { tenant, checks, run } = readRecord(record, environment);
    const skipped = record.checks.filter((type) => !checkOf(type)).length;
    if (skipped > 0) unknownChecks.add(skipped, { environment });
    if (await store.hasRun(tenant, record.recordId)) return;
    const caller = { tenant, actor: run.monitorId, requestId: "" };
    const subject = await subjects.read(tenant, record.entityId).catch(goneAsUndefined);
    const request: VerificationRequest = {
      began,
      caller,
      subject: subject ?? unknownSubject(record.entityId),
      suppliedTin: "",
      checks,
      mode: "realtime",
      run: { ...run, recordId: record.recordId },
    };
    try {
      await (subject ? verifier.verify(request) : verifier.refuse(request, "entity_not_found"));
    } catch (error) {
      if (!(error instanceof DuplicateRunError)) throw error;
    }
  };
}

function readRecord(record: VerificationRequested, environment: Environment) {
  const tenant = tenantIn(record, environment);
  const run = runIn(record);
  const known = record.checks.filter(checkOf);
  if (!record.recordId || !record.entityId || known.length === 0) {
    throw new PoisonRecordError("the record names no entity, no id of its own, or no known check");
  }
  return { tenant, checks: checksOf(known), run };
}

function goneAsUndefined(error: unknown): undefined {
  if (error instanceof ServiceError && error.code === "entity_not_found") return undefined;
  throw error;
}

function unknownSubject(entityId: string): CheckSubject {
  return { entityId, legalName: "", uei: "", cage: "", tinHash: new Uint8Array(), createdByOrganization: false };
}
