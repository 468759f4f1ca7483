import { maskTin } from "@vvs/identifiers";
import type { Environment } from "@vvs/tenant";
import type { Collections } from "../model/documents.ts";
import { findSubjectDocuments } from "../vendors/subject-documents.ts";
import { findAnew, type ListedVendorDocument, noteSubject } from "./listed-vendor.ts";

const BATCH = 100;

/**
 * Notes the TIN and the name of vendors whose TIN matches are older than `subject`, and finds anew by which filters vendors
 * with TIN matches are found, since replicas of an earlier version go by another rule. It can run again, and beside the
 * service.
 */
export async function noteSubjects(environment: Environment, collections: Collections): Promise<void> {
  const { vendors } = collections;
  const note = async (batch: readonly ListedVendorDocument[]) => {
    if (batch.length === 0) return;
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
  const batch: ListedVendorDocument[] = [];
  for await (const vendor of vendors.find({ "checks.tin_match": { $exists: true }, subject: { $exists: false } })) {
    batch.push(vendor);
    if (batch.length === BATCH) await note(batch.splice(0));
  }
  await note(batch);
  await vendors.updateMany({ "checks.tin_match": { $exists: true } }, findAnew);
}
