import { ServiceError } from "@vvs/errors";
import { PoisonRecordError } from "@vvs/kafka";
import type { VerificationRequested } from "@vvs/proto/events/v1/events";
import { type Environment, type Tenant, tenantOf } from "@vvs/tenant";
import type { Check, CheckSubject } from "./checks.ts";
import { DuplicateRunError, type VerificationStore } from "./store.ts";
import type { Subjects } from "./subject.ts";
import type { Verifier, Verifying } from "./verifier.ts";
import { checksOf } from "./wire.ts";

/**
 * Makes the verification that a monitor's run asks for, once: a record that comes again finds it and does nothing. An
 * entity that is gone makes a verification of errors, so that the run ends. Errors: PoisonRecordError for a record that
 * contradicts itself; any other one means that something is away.
 */
export function createMonitorRuns(options: {
  environment: Environment;
  store: Pick<VerificationStore, "hasRun">;
  subjects: Pick<Subjects, "read">;
  verifier: Verifier;
}): (record: VerificationRequested) => Promise<void> {
  const { store, subjects, verifier } = options;
  return async (record) => {
    const { tenant, checks, run } = readRecord(record, options.environment);
    if (await store.hasRun(tenant, record.recordId)) return;
    const caller = { tenant, actor: run.monitorId, requestId: "" };
    const subject = await subjects.read(tenant, record.entityId).catch(goneAsUndefined);
    const verifying: Verifying = {
      caller,
      subject: subject ?? unknownSubject(record.entityId),
      checks,
      mode: "realtime",
      run: { ...run, recordId: record.recordId },
    };
    try {
      await (subject ? verifier.verify(verifying) : verifier.refuse(verifying, "entity_not_found"));
    } catch (error) {
      if (!(error instanceof DuplicateRunError)) throw error;
    }
  };
}

function readRecord(record: VerificationRequested, environment: Environment) {
  let tenant: Tenant;
  let checks: Check[];
  try {
    tenant = tenantOf(record.tenant);
    checks = checksOf(record.checks);
  } catch (cause) {
    throw new PoisonRecordError("the record names no tenant, or no known check", { cause });
  }
  if (tenant.environment !== environment) throw new PoisonRecordError("the record is of the other environment");
  if (!record.recordId || !record.entityId || !record.run?.monitorId) {
    throw new PoisonRecordError("the record names no entity, run or id of its own");
  }
  return { tenant, checks, run: { monitorId: record.run.monitorId, runSeq: Number(record.run.runSeq) } };
}

function goneAsUndefined(error: unknown): undefined {
  if (error instanceof ServiceError && error.code === "entity_not_found") return undefined;
  throw error;
}

function unknownSubject(entityId: string): CheckSubject {
  return { entityId, legalName: "", uei: "", cage: "", tinHash: new Uint8Array(), createdByOrganization: false };
}
