import type { MessageInitShape } from "@bufbuild/protobuf";
import type { GetRegistryRecordResponseSchema } from "@vvs/proto/entity/v1/entity";
import { registryDay } from "@vvs/registration";
import type { Filter } from "mongodb";
import { everIdentifiedBy } from "../model/cages.ts";
import type { Collections, EntityDocument, ExclusionDocument, LoadDocument } from "../model/documents.ts";
import { withoutLoad } from "../model/exclusion-history.ts";
import { concerns, findExclusions, gravestFirst, isPast, newestLoad } from "../model/exclusions.ts";
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
  const rows = await findExclusions(collections, [query, ...entities.map(everIdentifiedBy)]);
  const sources = [
    ...entities.map(({ registry_row: row }) => row?.load_id),
    ...rows.flatMap(({ load_id, ended_by }) => [load_id, ended_by]),
  ];
  // After the entities and rows: otherwise the ones that a withdrawal has just restored would count as the withdrawn file's,
  // and those of a load that has just been finished as the file's before it.
  const [withdrawn, later] = await Promise.all([
    findWithdrawn(collections),
    findLater(collections, sources, [registryLoad, exclusionsLoad]),
  ]);
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
  const named = query.uei ? entities : entity ? [entity] : [];
  const identified = {
    uei: query.uei || entity?.identifiers.uei,
    cages: [query.cage, ...named.flatMap((one) => everIdentifiedBy(one).cages)],
  };
  const today = registryDay(now);
  const unfinished = withdrawing("exclusions");
  const restored = unfinished ? rows.flatMap((row) => withoutLoad(row, unfinished, exclusionsLoad) ?? []) : rows;
  const concerning = exclusionsLoad ? restored.filter((row) => concerns(row, identified)) : [];
  const hasEnded = ({ ended_by, ended_on }: ExclusionDocument) =>
    ended_by !== undefined && !later.includes(ended_by) && ended_on! <= exclusionsLoad!.cut_date;
  const isOver = (row: ExclusionDocument) => hasEnded(row) || isPast(row, today);
  // Facts of a later load get its id, so that they no longer count once it is withdrawn.
  const laterOf = (ids: readonly (string | undefined)[]) => later.find((id) => ids.includes(id));
  return {
    record: entity?.sam && toRecord(entity, entity.sam),
    exclusions: gravestFirst(concerning.filter((row) => !isOver(row))).map(toExclusion),
    endedExclusions: concerning.filter(isOver).map(toExclusion),
    registryCutDate: registry?.cut_date,
    registryFile: registry?.file_name,
    registryLoad: registry && (laterOf([entity?.registry_row?.load_id]) ?? registry._id),
    exclusionsCutDate: exclusionsLoad?.cut_date,
    exclusionsFile: exclusionsLoad?.file_name,
    exclusionsLoad: exclusionsLoad && (laterOf(concerning.map(({ load_id }) => load_id)) ?? exclusionsLoad._id),
    withdrawnLoads,
  };
}

/**
 * Returns whether a complete file was loaded after the last withdrawal. Until then the registry's facts are unknown for
 * some entities: a daily file does not tell whether an entity that it lacks is registered.
 */
function isReloaded(newest: LoadDocument | undefined, withdrawn: readonly Pick<LoadDocument, "kind" | "withdrawn">[]) {
  const times = withdrawn.flatMap((load) => (load.kind === "registry" ? (load.withdrawn?.at.getTime() ?? 0) : 0));
  return newest?.complete === true && (newest.finished_at?.getTime() ?? 0) > Math.max(0, ...times);
}

/** Finds the registry entities with the UEI, listed or not, or those that carry the CAGE if the UEI is unknown. */
function findNamed({ entities }: Collections, { uei, cage }: { uei: string; cage: string }): Promise<EntityDocument[]> {
  const carrying = { organization_id: null, listed: { $ne: false } };
  const named: Filter<EntityDocument> = uei
    ? { "identifiers.uei": uei, organization_id: null }
    : { $or: ["identifiers.cage", "other_cages"].map((field) => ({ [field]: cage, ...carrying })) };
  return entities.find(named).toArray();
}

/** Returns the withdrawn loads, newest first. */
export function findWithdrawn({ loads }: Collections) {
  const filter = { kind: { $in: ["registry" as const, "exclusions" as const] }, state: "withdrawn" as const };
  const projection = { kind: 1, cut_date: 1, withdrawn: 1 };
  return loads.find(filter, { projection }).sort({ cut_date: -1 }).toArray();
}

/**
 * Finds which of these loads began after the newest finished load of their kind had finished, newest first: they are
 * running, were killed, or have just been finished.
 */
async function findLater(
  { loads }: Collections,
  ids: readonly (string | undefined)[],
  newest: readonly (LoadDocument | undefined)[],
): Promise<string[]> {
  const finished = newest.filter((load) => load !== undefined);
  const others = ids.filter((id) => id !== undefined && finished.every(({ _id }) => _id !== id)) as string[];
  if (others.length === 0 || finished.length === 0) return [];
  const begunLater = finished.map(({ kind, finished_at }) => ({ kind, started_at: { $gt: finished_at! } }));
  const found = loads.find({ _id: { $in: others }, $or: begunLater }, { projection: { _id: 1 } });
  return (await found.sort({ cut_date: -1, started_at: -1 }).toArray()).map(({ _id }) => _id);
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
    effect: row.effect,
    comment: row.comment,
  };
}
