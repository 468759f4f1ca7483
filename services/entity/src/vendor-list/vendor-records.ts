import { timestampDate } from "@bufbuild/protobuf/wkt";
import { metrics } from "@opentelemetry/api";
import { createBatcher } from "@vvs/batching";
import { checkOf, statusOf } from "@vvs/checks";
import { PoisonRecordError, tenantIn, timeIn } from "@vvs/kafka";
import { isDuplicateKey } from "@vvs/mongo";
import type { MonitorStateChanged, VerificationCompleted } from "@vvs/proto/events/v1/events";
import type { Environment } from "@vvs/tenant";
import type { Collections } from "../model/documents.ts";
import { findNames } from "../subject-documents.ts";
import { newVendor, noteMonitors, noteVerification, type VerifiedVendor } from "./listed-vendor.ts";
import type { VendorStore, VendorUpdate } from "./vendor-store.ts";

/** Maximum number of verifications noted together. */
const MAX_NOTED = 100;

/**
 * Creates the handlers of the records that an environment's lists of vendors follow. Records can come repeatedly and in any
 * order. Errors: PoisonRecordError for an invalid record; any other error may be retried.
 */
export function createVendorRecords(options: {
  environment: Environment;
  entities: Collections["entities"];
  vendors: Pick<VendorStore, "update" | "putMonitor" | "countMonitors" | "isForeignMonitor">;
}) {
  const { environment, entities, vendors } = options;
  const unknownChecks = metrics.getMeter("entity").createCounter("vendor_list_unknown_checks_skipped", {
    description: "Checks left out of lists of vendors because this version does not know them. Only during a rollout.",
  });

  /** Notes verifications. Those that arrive meanwhile share the next write. One of an entity that is not there is ignored. */
  const note = createBatcher<VendorUpdate, void>({
    async run(updates) {
      await vendors.update(environment, updates, async (unlisted) => {
        const names = await findNames(entities, unlisted);
        return unlisted.map(({ tenant, entityId }, index) => {
          const name = names[index];
          return name === undefined ? undefined : newVendor(tenant, entityId, name);
        });
      });
      return [];
    },
    maxSize: MAX_NOTED,
    atOnce: 1,
  });

  return {
    /** Notes the results of a verification. One of an entity that does not exist is ignored: its run found out. */
    async verificationCompleted(record: VerificationCompleted): Promise<void> {
      const tenant = tenantIn(record, environment);
      const skipped = (check_type: number) => unknownChecks.add(1, { environment, check_type });
      const change = noteVerification(verifiedVendorOf(record, skipped), record.entityName);
      await note({ tenant, entityId: record.entityId, change });
    },

    /** Notes whether a monitor is active. */
    async monitorStateChanged(record: MonitorStateChanged): Promise<void> {
      const tenant = tenantIn(record, environment);
      const { monitorId: id, entityId, active } = record;
      if (!record.recordId || !id || !entityId) throw new PoisonRecordError("the record names no monitor or no entity");
      const [name] = await findNames(entities, [{ tenant, entityId }]);
      if (name === undefined) throw new PoisonRecordError("the organization has no such entity");
      try {
        await vendors.putMonitor(tenant, { id, entityId, active });
      } catch (error) {
        if (!isDuplicateKey(error) || !(await vendors.isForeignMonitor(tenant, id))) throw error;
        throw new PoisonRecordError("the monitor belongs to another organization", { cause: error });
      }
      // Of several monitors whose records are handled at the same time, whoever counts last counts all.
      let noted: number | undefined;
      for (let counted = await vendors.countMonitors(tenant, entityId); counted !== noted; ) {
        const update = { tenant, entityId, change: noteMonitors(counted) };
        await vendors.update(environment, [update], async () => [newVendor(tenant, entityId, name)]);
        noted = counted;
        counted = await vendors.countMonitors(tenant, entityId);
      }
    },
  };
}

function verifiedVendorOf(record: VerificationCompleted, skip: (checkType: number) => void): VerifiedVendor {
  const { verificationId, entityId } = record;
  if (!verificationId || !entityId) throw new PoisonRecordError("the record has no verification id or no entity id");
  const at = timeIn(record.createdAt);
  const results = record.checks.flatMap(({ checkType, status: number, reason, facts, madeAt }) => {
    const check = checkOf(checkType);
    if (!check) {
      skip(checkType);
      return [];
    }
    const status = statusOf(number);
    if (!status) throw new PoisonRecordError("the record has a check with an unknown status");
    return [{ check, status, reason, facts, madeAt: madeAt ? timestampDate(madeAt) : at }];
  });
  if (results.length === 0) throw new PoisonRecordError("the record has no known check");
  return { verificationId, at, tin: record.entityTin, results };
}
