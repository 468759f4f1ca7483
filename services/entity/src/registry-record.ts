import type { MessageInitShape } from "@bufbuild/protobuf";
import type { GetRegistryRecordResponseSchema } from "@vvs/proto/entity/v1/entity";
import type { Collections, EntityDocument, ExclusionDocument, SamFacts } from "./documents.ts";
import { concerns, findExclusions, newestLoad } from "./exclusions.ts";
import { dateOf } from "./registry/dates.ts";
import { isExclusionActive } from "./registry/exclusion-row.ts";

/** What the loaded files say of a UEI, or of a CAGE where no UEI is known ("" where unknown). */
export async function registryRecord(
  collections: Collections,
  asked: { uei: string; cage: string },
  now: Date,
): Promise<MessageInitShape<typeof GetRegistryRecordResponseSchema>> {
  const [entity, registryLoad, exclusionsLoad] = await Promise.all([
    findListed(collections, asked),
    newestLoad(collections, "registry"),
    newestLoad(collections, "exclusions"),
  ]);
  const identified = {
    uei: asked.uei || entity?.identifiers.uei,
    cage: asked.cage || entity?.identifiers.cage,
  };
  const today = dateOf(now);
  const rows = await findExclusions(collections, [identified], today);
  const inForce = rows.filter(
    (row) =>
      concerns(row, identified) &&
      isExclusionActive({ activeDate: row.active_date, terminationDate: row.termination_date }, today),
  );
  return {
    record: entity?.sam && toRecord(entity, entity.sam),
    // Rows of a first file that is still being loaded have no date that an answer could name.
    exclusions: exclusionsLoad ? inForce.map(toExclusion) : [],
    registryCutDate: registryLoad?.cut_date,
    registryFile: registryLoad?.file_name,
    exclusionsCutDate: exclusionsLoad?.cut_date,
    exclusionsFile: exclusionsLoad?.file_name,
  };
}

async function findListed(
  { entities }: Collections,
  { uei, cage }: { uei: string; cage: string },
): Promise<EntityDocument | undefined> {
  const named = uei ? { "identifiers.uei": uei } : { "identifiers.cage": cage };
  return (await entities.findOne({ ...named, organization_id: null, listed: true })) ?? undefined;
}

const EXTRACT_CODES: Readonly<Record<SamFacts["listed_as"], string>> = { active: "A", expired: "E", inactive: "" };

function toRecord(entity: EntityDocument, sam: SamFacts) {
  return {
    uei: entity.identifiers.uei,
    cage: entity.identifiers.cage,
    legalName: entity.legal_name,
    extractCode: EXTRACT_CODES[sam.listed_as],
    excluded: sam.excluded,
    expirationDate: sam.expiration_date,
    entityType: sam.entity_type,
    idOnly: !sam.sam_registered,
  };
}

function toExclusion(row: ExclusionDocument) {
  return {
    samNumber: row.sam_number,
    exclusionType: row.exclusion_type,
    program: row.program,
    agency: row.agency,
    activeDate: row.active_date,
    terminationDate: row.termination_date ?? "indefinite",
  };
}
