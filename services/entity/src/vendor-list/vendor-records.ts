import { timestampDate } from "@bufbuild/protobuf/wkt";
import { metrics } from "@opentelemetry/api";
import { createBatcher } from "@vvs/batching";
import { checkOf, statusOf } from "@vvs/checks";
import { PoisonRecordError, tenantIn, timeIn } from "@vvs/kafka";
import { isDuplicateKey } from "@vvs/mongo";
import type { MonitorStateChanged, VerificationCompleted } from "@vvs/proto/events/v1/events";
import type { Environment } from "@vvs/tenant";
import type { Collections } from "../model/documents.ts";
import { findSeen } from "../subject-documents.ts";
import { newVendor, noteMonitors, noteVerification, type VerifiedVendor } from "./listed-vendor.ts";
import { countedTogether } from "./taken-over.ts";
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
        const seen = await findSeen(entities, unlisted);
        return unlisted.map(({ tenant, entityId }, index) => {
          const entity = seen[index];
          return entity && newVendor(tenant, entityId, entity.legal_name);
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
      const readSeen = async () => (await findSeen(entities, [{ tenant, entityId }]))[0];
      if (!(await readSeen())) throw new PoisonRecordError("the organization has no such entity");
      try {
        await vendors.putMonitor(tenant, { id, entityId, active });
      } catch (error) {
        if (!isDuplicateKey(error) || !(await vendors.isForeignMonitor(tenant, id))) throw error;
        throw new PoisonRecordError("the monitor belongs to another organization", { cause: error });
      }
      // Of several monitors whose records are handled at the same time, whoever counts last counts all, and of an entity that is
      // taken over meanwhile, those of both.
      for (let noted: number | undefined; ; ) {
        const seen = (await readSeen())!;
        const counted = await vendors.countMonitors(tenant, countedTogether(seen));
        if (counted === noted) return;
        const update = { tenant, entityId, change: noteMonitors(counted) };
        await vendors.update(environment, [update], async ([listed]) => [
          newVendor(tenant, listed!.entityId, seen.legal_name),
        ]);
        noted = counted;
      }
    },
  };
}

function verifiedVendorOf(record: VerificationCompleted, skip: (checkType: number) => void): VerifiedVendor {
  const { verificationId, entityId } = record;
  if (!verificationId || !entityId) throw new PoisonRecordError("the record has no verification id or no entity id");
  const at = timeIn(record.createdAt);
  const results = record.checks.flatMap(({ checkType, status: number, reason, facts, madeAt, tinFingerprint }) => {
    const check = checkOf(checkType);
    if (!check) {
      skip(checkType);
      return [];
    }
    const status = statusOf(number);
    if (!status) throw new PoisonRecordError("the record has a check with an unknown status");
    const asked = { tinFingerprint: textOf(tinFingerprint), madeAt: madeAt ? timestampDate(madeAt) : at };
    return [{ check, status, reason, facts, ...asked }];
  });
  if (results.length === 0) throw new PoisonRecordError("the record has no known check");
  const { entityTin: tin, entityTinFingerprint } = record;
  return { verificationId, at, tin, tinFingerprint: textOf(entityTinFingerprint), results };
}

const textOf = (fingerprint: Uint8Array) => Buffer.from(fingerprint).toString("base64");
