import { PoisonRecordError, tenantIn } from "@vvs/kafka";
import { CheckType } from "@vvs/proto/common/v1/common";
import type { MonitorStateChanged } from "@vvs/proto/events/v1/events";
import type { Tenant } from "@vvs/tenant";
import type { Subjects } from "../checks/subjects.ts";
import { asUndefined } from "../own-data.ts";
import { freshPriorityOf } from "../questions/watch-frequency.ts";
import type { Watch } from "./watches.ts";

/**
 * Creates the handler of the states of live monitors: it notes which vendors they watch, and how often. Records may come
 * repeatedly and in any order. Errors: PoisonRecordError for an invalid record; any other error may be retried.
 */
export function createWatchRecords(options: {
  subjects: Pick<Subjects, "read">;
  putWatch: (watch: Watch) => Promise<void>;
  now: () => Date;
}): (record: MonitorStateChanged) => Promise<void> {
  const { subjects, putWatch, now } = options;
  return async (record) => {
    const tenant = tenantIn(record, "live");
    const { recordId, monitorId, entityId, active, frequency, checks } = record;
    if (!recordId || !monitorId || !entityId) throw new PoisonRecordError("the record names no monitor or no entity");
    if (!checks.includes(CheckType.SAM_REGISTRATION)) return;
    await putWatch({
      ...{ monitorId, organizationId: tenant.organizationId, entityId, stateSeq: Number(record.stateSeq) },
      vendor: active ? await vendorOf(subjects, tenant, entityId) : undefined,
      priority: freshPriorityOf(frequency),
      canceledAt: active ? undefined : now(),
    });
  };
}

/** Returns the identifiers by which SAM.gov is asked about an entity; undefined where it has none, or is gone. */
export async function vendorOf(
  subjects: Pick<Subjects, "read">,
  tenant: Tenant,
  entityId: string,
): Promise<Watch["vendor"]> {
  const { uei = "", cage = "" } = (await subjects.read(tenant, entityId).catch(asUndefined("entity_not_found"))) ?? {};
  return uei || cage ? { uei, cage } : undefined;
}
