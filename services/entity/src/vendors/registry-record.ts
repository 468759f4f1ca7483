import type { MessageInitShape } from "@bufbuild/protobuf";
import type { GetRegistryRecordResponseSchema } from "@vvs/proto/entity/v1/entity";
import { dateOf, type IsoDate } from "../model/dates.ts";
import type { Collections, EntityDocument, ExclusionDocument, LoadDocument, SamFacts } from "../model/documents.ts";
import { withoutLoad } from "../model/exclusion-history.ts";
import { concerns, findAllExclusions, isPast, newestLoad } from "../model/exclusions.ts";
import { isExclusionActive } from "../registry-load/files/exclusion-row.ts";

/** What the loaded files say of a UEI, or of a CAGE where no UEI is known ("" where unknown). */
export async function registryRecord(
  collections: Collections,
  asked: { uei: string; cage: string },
  now: Date,
): Promise<MessageInitShape<typeof GetRegistryRecordResponseSchema>> {
  // Before the entities: a load that is done in between would date facts that are older than it.
  const [registryLoad, exclusionsLoad] = await Promise.all([
    newestLoad(collections, "registry"),
    newestLoad(collections, "exclusions"),
  ]);
  const [entities, withdrawn] = await Promise.all([findNamed(collections, asked), findWithdrawn(collections)]);
  const withdrawnLoads = withdrawn.map(({ _id }) => _id);
  const isWithdrawn = ({ sam, registry_row: row }: EntityDocument) =>
    !sam || (row?.load_id !== undefined && withdrawnLoads.includes(row.load_id));
  const entity = entities.find((one) => one.listed && !isWithdrawn(one));
  const withdrawing = (kind: LoadDocument["kind"]) =>
    withdrawn.find((load) => load.kind === kind && !load.withdrawn?.finished_at);
  const mayBeOfIt = entities.some(isWithdrawn) && !isReloaded(registryLoad, withdrawn);
  const isUnknown = !entity && (mayBeOfIt || withdrawing("registry") !== undefined);
  const registry = isUnknown ? undefined : registryLoad;
  const identified = {
    uei: asked.uei || entity?.identifiers.uei,
    cage: asked.cage || entity?.identifiers.cage,
  };
  const today = dateOf(now);
  const rows = exclusionsLoad ? await findAllExclusions(collections, [identified]) : [];
  const bad = withdrawing("exclusions");
  const known = bad ? rows.flatMap((row) => withoutLoad(row, bad, exclusionsLoad) ?? []) : rows;
  const concerning = known.filter((row) => concerns(row, identified));
  const isOver = (row: ExclusionDocument) => hasEnded(row, exclusionsLoad!) || isPast(row, today);
  return {
    record: entity?.sam && toRecord(entity, entity.sam),
    exclusions: concerning.filter((row) => !isOver(row) && isInForce(row, today)).map(toExclusion),
    endedExclusions: concerning.filter(isOver).map(toExclusion),
    registryCutDate: registry?.cut_date,
    registryFile: registry?.file_name,
    registryLoad: registry?._id,
    exclusionsCutDate: exclusionsLoad?.cut_date,
    exclusionsFile: exclusionsLoad?.file_name,
    exclusionsLoad: exclusionsLoad?._id,
    withdrawnLoads,
  };
}

/** Was the newest file loaded since the last withdrawal? Until then it is not known what it says of some entities. */
function isReloaded(newest: LoadDocument | undefined, withdrawn: readonly Pick<LoadDocument, "kind" | "withdrawn">[]) {
  const moments = withdrawn.flatMap(({ kind, withdrawn: how }) => (kind === "registry" && how ? how.at.getTime() : []));
  return (newest?.started_at.getTime() ?? 0) > Math.max(0, ...moments);
}

/** Does the newest loaded file lack the row? What a load that is still running ended counts only when it is done. */
function hasEnded({ ended_on }: ExclusionDocument, newest: LoadDocument): boolean {
  return ended_on !== undefined && ended_on <= newest.cut_date;
}

function isInForce({ active_date, termination_date }: ExclusionDocument, today: IsoDate): boolean {
  return isExclusionActive({ activeDate: active_date, terminationDate: termination_date }, today);
}

/** The registry's entities that carry the UEI, or the CAGE where no UEI is known; those that are not listed too. */
function findNamed({ entities }: Collections, { uei, cage }: { uei: string; cage: string }): Promise<EntityDocument[]> {
  const named = uei ? { "identifiers.uei": uei } : { "identifiers.cage": cage };
  return entities.find({ ...named, organization_id: null }).toArray();
}

const MAX_WITHDRAWN = 100;

/** The loads that were withdrawn, newest first. */
function findWithdrawn({ loads }: Collections) {
  const filter = { kind: { $in: ["registry" as const, "exclusions" as const] }, state: "withdrawn" as const };
  const projection = { kind: 1, cut_date: 1, withdrawn: 1 };
  return loads.find(filter, { projection }).sort({ cut_date: -1 }).limit(MAX_WITHDRAWN).toArray();
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
    firstSeen: row.first_seen,
    lastSeen: row.last_seen,
    endedOn: row.ended_on,
  };
}
