import type { MessageInitShape } from "@bufbuild/protobuf";
import type { GetRegistryRecordResponseSchema } from "@vvs/proto/entity/v1/entity";
import { dateOf } from "../model/dates.ts";
import type { Collections, EntityDocument, ExclusionDocument, LoadDocument } from "../model/documents.ts";
import { withoutLoad } from "../model/exclusion-history.ts";
import { concerns, findExclusions, isInForce, isPast, newestLoad } from "../model/exclusions.ts";
import type { SamFacts } from "../model/facts.ts";

/** Returns what the loaded files say about a UEI, or about a CAGE if the UEI is unknown; unknown ones are "". */
export async function registryRecord(
  collections: Collections,
  query: { uei: string; cage: string },
  now: Date,
): Promise<MessageInitShape<typeof GetRegistryRecordResponseSchema>> {
  // Before the entities: otherwise facts could get the date of a load that was finished after they were read.
  const registryLoad = await newestLoad(collections, "registry");
  const exclusionsLoad = await newestLoad(collections, "exclusions");
  const entities = await findNamed(collections, query);
  const rows = await findExclusions(collections, [query, ...entities.map(({ identifiers }) => identifiers)]);
  // After the entities and rows: otherwise the ones that a withdrawal has just restored would count as the withdrawn file's.
  const withdrawn = await findWithdrawn(collections);
  const withdrawnLoads = withdrawn.map(({ _id }) => _id);
  const wasWithdrawn = (load: LoadDocument | undefined) => load !== undefined && withdrawnLoads.includes(load._id);
  if (wasWithdrawn(registryLoad) || wasWithdrawn(exclusionsLoad)) return registryRecord(collections, query, now);

  const isWithdrawn = ({ sam, registry_row: row }: EntityDocument) =>
    !sam || (row?.load_id !== undefined && withdrawnLoads.includes(row.load_id));
  const entity = entities.find((one) => one.listed && !isWithdrawn(one));
  const withdrawing = (kind: LoadDocument["kind"]) =>
    withdrawn.find((load) => load.kind === kind && !load.withdrawn?.finished_at);
  const mayBeListed = entities.some(isWithdrawn) && !isReloaded(registryLoad, withdrawn);
  const isUnknown = !entity && (mayBeListed || withdrawing("registry") !== undefined);
  const registry = isUnknown ? undefined : registryLoad;
  const identified = {
    uei: query.uei || entity?.identifiers.uei,
    cage: query.cage || entity?.identifiers.cage,
  };
  const today = dateOf(now);
  const unfinished = withdrawing("exclusions");
  const restored = unfinished ? rows.flatMap((row) => withoutLoad(row, unfinished, exclusionsLoad) ?? []) : rows;
  const concerning = exclusionsLoad ? restored.filter((row) => concerns(row, identified)) : [];
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

/** Returns whether the newest file was loaded after the last withdrawal; until then, what it says is unknown for some entities. */
function isReloaded(newest: LoadDocument | undefined, withdrawn: readonly Pick<LoadDocument, "kind" | "withdrawn">[]) {
  const times = withdrawn.flatMap((load) => (load.kind === "registry" ? (load.withdrawn?.at.getTime() ?? 0) : 0));
  return (newest?.started_at.getTime() ?? 0) > Math.max(0, ...times);
}

/** Returns whether the newest loaded file lacks the row. Rows that a running load ended count only when it is done. */
function hasEnded({ ended_on }: ExclusionDocument, newest: LoadDocument): boolean {
  return ended_on !== undefined && ended_on <= newest.cut_date;
}

/** Finds the registry entities with the UEI, or with the CAGE if the UEI is unknown, including those that are not listed. */
function findNamed({ entities }: Collections, { uei, cage }: { uei: string; cage: string }): Promise<EntityDocument[]> {
  const named = uei ? { "identifiers.uei": uei } : { "identifiers.cage": cage };
  return entities.find({ ...named, organization_id: null }).toArray();
}

const MAX_WITHDRAWN = 100;

/** Finds the withdrawn loads, newest first. */
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
