import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import type { Tenant as ProtoTenant } from "@vvs/proto/common/v1/common";
import type { MonitorRun, FieldChange as ProtoChange } from "@vvs/proto/events/v1/events";
import { type Environment, type Tenant, tenantOf } from "@vvs/tenant";
import { PoisonRecordError } from "./errors.ts";

// Reads and writes the fields that records of several topics share. A record without one of them can never be processed.

/** A watched field of a monitor that changed. Null means "no value". */
export interface FieldChange {
  /** <check>.<name>, such as sam_registration.registration_status. */
  readonly field: string;
  readonly previous: string | null;
  readonly current: string | null;
}

/**
 * Returns the tenant of a record of `environment`. Errors: PoisonRecordError if it is missing or of the other
 * environment.
 */
export function tenantIn(record: { readonly tenant?: ProtoTenant }, environment: Environment): Tenant {
  let tenant: Tenant;
  try {
    tenant = tenantOf(record.tenant);
  } catch (cause) {
    throw new PoisonRecordError("the record names no tenant", { cause });
  }
  if (tenant.environment !== environment) throw new PoisonRecordError("the record belongs to the other environment");
  return tenant;
}

/**
 * Returns the monitor run of a record. Errors: PoisonRecordError if the monitor is missing or the number can't be a
 * run's.
 */
export function runIn(record: { readonly run?: MonitorRun }): { monitorId: string; runSeq: number } {
  const { monitorId, runSeq } = record.run ?? { monitorId: "", runSeq: 0n };
  if (!monitorId || runSeq < 1n || runSeq > Number.MAX_SAFE_INTEGER) {
    throw new PoisonRecordError("the record names no run");
  }
  return { monitorId, runSeq: Number(runSeq) };
}

/** Returns a time of a record. Errors: PoisonRecordError if it is missing or out of range. */
export function timeIn(timestamp: Timestamp | undefined): Date {
  const at = timestamp && timestampDate(timestamp);
  if (!at || Number.isNaN(at.getTime())) throw new PoisonRecordError("the record names no time");
  return at;
}

/** Returns the changes of a record. Errors: PoisonRecordError if there is none, or one without a field. */
export function changesIn({ changes }: { readonly changes: readonly ProtoChange[] }): FieldChange[] {
  if (changes.length === 0 || changes.some(({ field }) => !field))
    throw new PoisonRecordError("the record contains no change");
  return changes.map(({ field, previous = null, current = null }) => ({ field, previous, current }));
}

/** Returns changes as messages, in which "no value" is an absent field. */
export function changeMessages(changes: readonly FieldChange[]) {
  return changes.map(({ field, previous, current }) => ({
    field,
    previous: previous ?? undefined,
    current: current ?? undefined,
  }));
}
