import { inBatches } from "@vvs/batching";
import { maskTin } from "@vvs/identifiers";
import type { Environment } from "@vvs/tenant";
import type { Collections } from "../model/documents.ts";
import type { ListedVendorDocument } from "../model/listed-vendor.ts";
import { findSubjectDocuments } from "../subject-documents.ts";
import { noteSubject, refilter } from "./listed-vendor.ts";

const BATCH = 100;

/**
 * Completes lists that an earlier version wrote: vendors with a TIN match get the TIN and the name that they have now, and the
 * filters that show them are computed again, because that version used another rule. It can run again, and beside the
 * service.
 */
export async function noteSubjects(environment: Environment, collections: Collections): Promise<void> {
  const { vendors } = collections;
  const note = async (batch: readonly ListedVendorDocument[]) => {
    const keys = batch.map(({ organization_id: organizationId, entity_id: entityId }) => ({
      tenant: { organizationId, environment },
      entityId,
    }));
    const found = await findSubjectDocuments(collections, keys);
    const writes = batch.flatMap((vendor, index) => {
      if (!found[index]) return [];
      const { entity, remembered } = found[index];
      const last4 = entity.tin_last4 ?? remembered.find(({ type }) => type === "tin")?.last4;
      const own = { tin: last4 === undefined ? "" : maskTin(last4), name: entity.placeholder ? "" : entity.legal_name };
      // A vendor that changed meanwhile has its subject from a verification, or is noted the next time.
      const filter = { _id: vendor._id, revision: vendor.revision };
      return [{ updateOne: { filter, update: noteSubject(vendor, own) } }];
    });
    if (writes.length > 0) await vendors.bulkWrite(writes, { ordered: false });
  };
  const unnoted = vendors.find({ "checks.tin_match": { $exists: true }, subject: { $exists: false } });
  for await (const batch of inBatches(unnoted, BATCH)) await note(batch);
  // The rules differ only for vendors whose TIN match failed.
  await vendors.updateMany({ "checks.tin_match.answered.status": "fail" }, refilter);
}
