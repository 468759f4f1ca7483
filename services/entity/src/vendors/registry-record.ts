import type { MessageInitShape } from "@bufbuild/protobuf";
import type { RegistryAnswerSchema } from "@vvs/proto/entity/v1/entity";
import { registryDay } from "@vvs/registration";
import type { ClientSession, Document, Filter } from "mongodb";
import { currentCages, everIdentifiedBy } from "../model/cages.ts";
import type { Collections, EntityDocument, ExclusionDocument, LoadDocument } from "../model/documents.ts";
import type { ExcludedNameDocument } from "../model/excluded-names.ts";
import { withoutLoad } from "../model/exclusion-history.ts";
import {
  concerns,
  gravestFirst,
  type Identified,
  identifierKeys,
  isPast,
  NEWEST_LOAD_FIRST,
  naming,
} from "../model/exclusions.ts";
import type { SamFacts } from "../model/facts.ts";
import { keysOfNames, sameNames } from "./same-names.ts";

/** Identifiers by which the loaded files are asked; unknown ones are "". */
export interface RegistryQuery {
  readonly uei: string;
  readonly cage: string;
  /** Names of the vendor. Absent or none: rows of the same name are not wanted. */
  readonly names?: readonly string[];
}

type Answer = MessageInitShape<typeof RegistryAnswerSchema>;
type Entity = Pick<EntityDocument, (typeof FIELDS)[number]>;
type Newest = LoadDocument & { readonly later: readonly Pick<LoadDocument, "_id" | "cut_date" | "started_at">[] };
type Withdrawn = Pick<LoadDocument, "_id" | "kind" | "cut_date" | "withdrawn">;

type Ending = Pick<ExclusionDocument, "ended_by" | "ended_on" | "termination_date">;

/** What is stored of some vendors and of all loads, at one moment. */
interface State {
  readonly newest: readonly Newest[];
  /** Newest first. */
  readonly withdrawn: readonly Withdrawn[];
  readonly entities: readonly Entity[];
  readonly rows: readonly ExclusionDocument[];
  readonly excludedNames: readonly ExcludedNameDocument[];
}

/** The fields of entities that records are made of; most of a document is names, addresses and match keys. */
const FIELDS = [
  "identifiers",
  "other_cages",
  "former_cages",
  "new_cages",
  "listed",
  "legal_name",
  "other_names",
  "sam",
  "registry_row",
] as const satisfies (keyof EntityDocument)[];

/** Keys by which exclusions are looked up. */
interface Keys {
  readonly identified: readonly Identified[];
  readonly nameKeys: readonly string[];
}

/** Returns what the loaded files say about each UEI, or CAGE if the UEI is unknown, in their order and all from one moment. */
export async function registryRecords(
  collections: Collections,
  queries: readonly RegistryQuery[],
  now: Date,
): Promise<Answer[]> {
  // All reads of the session see the moment of its first one.
  const session = collections.loads.db.client.startSession({ snapshot: true });
  try {
    const keys = { identified: queries, nameKeys: keysOfNames(queries.flatMap(({ names = [] }) => names)) };
    const state = await readState(collections, { queries, ...keys }, session);
    const further = await readFurther(collections, carriedKeys(state, queries, keys), session);
    const both = {
      ...state,
      rows: byIds([...state.rows, ...further.rows]),
      excludedNames: byIds([...state.excludedNames, ...further.excludedNames]),
    };
    return queries.map((query) => recordIn(both, query, registryDay(now)));
  } finally {
    await session.endSession();
  }
}

/** Returns the keys that the entities carry and that were not asked for. */
function carriedKeys({ entities }: State, queries: readonly RegistryQuery[], known: Keys): Keys {
  const asked = new Set([...identifierKeys(known.identified), ...known.nameKeys]);
  const isNew = (key: string) => !asked.has(key);
  const withNames = queries.filter(({ names }) => names?.length);
  const named = entities.filter((entity) => withNames.some((query) => isNamed(entity, query)));
  return {
    identified: entities.map(everIdentifiedBy).filter((one) => identifierKeys([one]).some(isNew)),
    nameKeys: keysOfNames(named.flatMap(namesOf)).filter(isNew),
  };
}

async function readFurther(
  { exclusions, excludedNames }: Collections,
  { identified, nameKeys }: Keys,
  session: ClientSession,
): Promise<Pick<State, "rows" | "excludedNames">> {
  const [rows, names] = await Promise.all([
    identified.length > 0 ? exclusions.find(naming(identified), atOneMoment(session)).toArray() : [],
    nameKeys.length > 0 ? excludedNames.find(bearing(nameKeys), atOneMoment(session)).toArray() : [],
  ]);
  return { rows, excludedNames: names };
}

/** All documents come in the first reply. */
function atOneMoment(session: ClientSession) {
  return { session, readConcern: { level: "snapshot" as const }, batchSize: 1_000 };
}

const bearing = (nameKeys: readonly string[]) => ({ name_keys: { $in: nameKeys } });

function byIds<T extends { readonly _id: unknown }>(documents: readonly T[]): T[] {
  return [...new Map(documents.map((each) => [String(each._id), each])).values()];
}

/**
 * Reads at one moment: facts never get the date or the id of a load that was finished, begun or withdrawn after or before they were
 * read.
 */
async function readState(
  collections: Collections,
  { queries, identified, nameKeys }: Keys & { readonly queries: readonly RegistryQuery[] },
  session: ClientSession,
): Promise<State> {
  const { loads, entities, exclusions, excludedNames } = collections;
  const union = (coll: string, name: keyof State, pipeline: Document[]) => ({
    $unionWith: { coll, pipeline: [...pipeline, { $project: { _id: 0, [name]: "$$ROOT" } }] },
  });
  const read = loads.aggregate<{ readonly [name in keyof State]?: State[name][number] }>(
    [
      ...newestWithLater(loads.collectionName, "registry"),
      { $project: { _id: 0, newest: "$$ROOT" } },
      union(loads.collectionName, "newest", newestWithLater(loads.collectionName, "exclusions")),
      union(loads.collectionName, "withdrawn", [
        { $match: WITHDRAWN },
        { $sort: LATEST_CUT_FIRST },
        { $project: WITHDRAWN_FIELDS },
      ]),
      union(entities.collectionName, "entities", [
        { $match: named(queries) },
        { $project: Object.fromEntries(FIELDS.map((field) => [field, 1])) },
      ]),
      union(exclusions.collectionName, "rows", [{ $match: naming(identified) }]),
      ...(nameKeys.length > 0
        ? [union(excludedNames.collectionName, "excludedNames", [{ $match: bearing(nameKeys) }])]
        : []),
    ],
    atOneMoment(session),
  );
  const found = await read.toArray();
  return {
    newest: found.flatMap((each) => each.newest ?? []),
    withdrawn: found.flatMap((each) => each.withdrawn ?? []),
    entities: found.flatMap((each) => each.entities ?? []),
    rows: found.flatMap((each) => each.rows ?? []),
    excludedNames: found.flatMap((each) => each.excludedNames ?? []),
  };
}

/**
 * Returns the newest finished load of a kind, with the others that began later: they are running, were killed, or are older
 * files. While the newest is loaded again, it is not later than itself: what it ended stays ended.
 */
function newestWithLater(coll: string, kind: LoadDocument["kind"]): Document[] {
  const isLater = { kind, $expr: { $and: [{ $gt: ["$started_at", "$$finished_at"] }, { $ne: ["$_id", "$$id"] }] } };
  const pipeline = [{ $match: isLater }, { $project: { cut_date: 1, started_at: 1 } }];
  return [
    { $match: { kind, state: "done" } },
    { $sort: NEWEST_LOAD_FIRST },
    { $limit: 1 },
    { $lookup: { from: coll, let: { id: "$_id", finished_at: "$finished_at" }, pipeline, as: "later" } },
  ];
}

function recordIn({ newest, withdrawn, ...state }: State, query: RegistryQuery, today: string): Answer {
  const registryLoad = newest.find(({ kind }) => kind === "registry");
  const exclusionsLoad = newest.find(({ kind }) => kind === "exclusions");
  const entities = state.entities.filter((entity) => isNamed(entity, query));
  const withdrawnLoads = withdrawn.map(({ _id }) => _id);
  const isWithdrawn = ({ sam, registry_row: row }: Entity) =>
    !sam || (row?.load_id !== undefined && withdrawnLoads.includes(row.load_id));
  const entity = entities.find((one) => one.listed && !isWithdrawn(one));
  const cagesOf = (one: Entity) => {
    const { cages } = everIdentifiedBy(one);
    return isWithdrawn(one) ? cages.filter((cage) => !one.new_cages?.includes(cage)) : cages;
  };
  const withdrawing = (kind: LoadDocument["kind"]) =>
    withdrawn.find((load) => load.kind === kind && !load.withdrawn?.finished_at);
  const mayBeListed = entities.some(isWithdrawn) && !isReloaded(registryLoad, withdrawn);
  const isUnknown = !entity && (mayBeListed || withdrawing("registry") !== undefined);
  const registry = isUnknown ? undefined : registryLoad;
  const identifying = query.uei ? entities : entity ? [entity] : [];
  const identified = {
    uei: query.uei || entity?.identifiers.uei,
    cages: [query.cage, ...identifying.flatMap(cagesOf)],
  };
  const registered = entity ? namesOf(entity) : [];
  const unfinished = withdrawing("exclusions");
  const { rows } = state;
  const restored = unfinished ? rows.flatMap((row) => withoutLoad(row, unfinished, exclusionsLoad) ?? []) : rows;
  const concerning = exclusionsLoad ? restored.filter((row) => concerns(row, identified)) : [];
  const later = newest.flatMap((load) => load.later).toSorted(newestFirst);
  const hasEnded = ({ ended_by, ended_on }: Ending) =>
    ended_by !== undefined && !later.some(({ _id }) => _id === ended_by) && ended_on! <= exclusionsLoad!.cut_date;
  const isOver = (row: Ending) => hasEnded(row) || isPast(row, today);
  const listed = state.excludedNames.filter(({ added_by }) => added_by !== unfinished?._id);
  const named = listed.filter(
    (row) => !isOver(row.ended_by === unfinished?._id ? { ...row, ended_by: undefined } : row),
  );
  // Facts of a later load get its id, so that they no longer count once it is withdrawn.
  const laterOf = (ids: readonly (string | undefined)[]) => later.find(({ _id }) => ids.includes(_id))?._id;
  return {
    record: entity?.sam && toRecord(entity, entity.sam),
    exclusions: gravestFirst(concerning.filter((row) => !isOver(row))).map(toExclusion),
    endedExclusions: gravestFirst(concerning.filter(isOver)).map(toExclusion),
    registryCutDate: registry?.cut_date,
    registryFile: registry?.file_name,
    registryLoad: registry && (laterOf([entity?.registry_row?.load_id]) ?? registry._id),
    exclusionsCutDate: exclusionsLoad?.cut_date,
    exclusionsFile: exclusionsLoad?.file_name,
    exclusionsLoad: exclusionsLoad && (laterOf(concerning.map(({ load_id }) => load_id)) ?? exclusionsLoad._id),
    withdrawnLoads,
    sameNames: exclusionsLoad && query.names?.length ? sameNames(named, [...query.names, ...registered]) : [],
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

/** Matches the registry entities with one of the UEIs, listed or not, and those that carry a CAGE whose UEI is unknown. */
function named(queries: readonly RegistryQuery[]): Filter<EntityDocument> {
  const ueis = queries.flatMap(({ uei }) => uei || []);
  const cages = queries.flatMap(({ uei, cage }) => (uei ? [] : cage));
  const carrying = { organization_id: null, listed: { $ne: false } };
  const fields = cages.length > 0 ? ["identifiers.cage", "other_cages"] : [];
  const byCage = fields.map((field) => ({ [field]: { $in: cages }, ...carrying }));
  return { $or: [{ "identifiers.uei": { $in: ueis }, organization_id: null }, ...byCage] };
}

function namesOf({ legal_name, other_names }: Entity): string[] {
  return [legal_name, ...other_names];
}

function isNamed(entity: Entity, { uei, cage }: RegistryQuery): boolean {
  if (uei) return entity.identifiers.uei === uei;
  return entity.listed !== false && currentCages(entity).includes(cage);
}

const WITHDRAWN = { kind: { $in: ["registry" as const, "exclusions" as const] }, state: "withdrawn" as const };
const WITHDRAWN_FIELDS = { kind: 1, cut_date: 1, withdrawn: 1 };
const LATEST_CUT_FIRST = { cut_date: -1 } as const;

/** Returns the withdrawn loads, newest first. */
export function findWithdrawn({ loads }: Collections): Promise<Withdrawn[]> {
  return loads.find(WITHDRAWN, { projection: WITHDRAWN_FIELDS }).sort(LATEST_CUT_FIRST).toArray();
}

function newestFirst(a: Newest["later"][number], b: Newest["later"][number]): number {
  if (a.cut_date !== b.cut_date) return a.cut_date < b.cut_date ? 1 : -1;
  return b.started_at.getTime() - a.started_at.getTime();
}

const EXTRACT_CODES: Readonly<Record<SamFacts["listed_as"], string>> = { active: "A", expired: "E", inactive: "" };

function toRecord(entity: Entity, sam: SamFacts) {
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
    withoutUei: row.uei === undefined,
  };
}
