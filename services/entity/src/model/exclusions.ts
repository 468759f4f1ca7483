import { exclusionEffects, registryDay } from "@vvs/registration";
import type { ClientSession, Filter } from "mongodb";
import { everIdentifiedBy } from "./cages.ts";
import type { IsoDate } from "./dates.ts";
import type {
  Collections,
  ExclusionDocument,
  ExclusionPeriodDocument,
  LoadDocument,
  PublicIdentifiers,
  UnversionedEntity,
} from "./documents.ts";
import { isOwnUnregistered } from "./own-entity.ts";

export type Identified = Pick<PublicIdentifiers, "uei" | "cage"> & { readonly cages?: readonly string[] };

/** Maximum number of exclusions that an entity keeps. */
const MAX_EXCLUSIONS = 100;

/** Returns whether a row concerns an entity: by the UEI, or by any CAGE of it if one of them has no UEI. */
export function concerns(exclusion: PublicIdentifiers, entity: Identified): boolean {
  if (exclusion.uei && entity.uei) return exclusion.uei === entity.uei;
  return exclusion.cage !== undefined && cagesOf(entity).includes(exclusion.cage);
}

function cagesOf({ cage, cages = [] }: Identified): readonly string[] {
  return cage ? [cage, ...cages] : cages;
}

/** Returns whether the last day of an exclusion is over. */
export function isPast({ termination_date: end }: ExclusionPeriodDocument, today: IsoDate): boolean {
  return end !== undefined && end !== "indefinite" && end < today;
}

/** Returns the rows that name one of these UEIs or CAGEs, including those that have ended. */
async function findExclusions(
  collections: Collections,
  identifiers: readonly Identified[],
  session?: ClientSession,
): Promise<ExclusionDocument[]> {
  if (identifierKeys(identifiers).length === 0) return [];
  return collections.exclusions.find(naming(identifiers), { session }).toArray();
}

/** Matches the rows that name one of these UEIs or CAGEs. */
export function naming(identifiers: readonly Identified[]): Filter<ExclusionDocument> {
  const ueis = identifiers.flatMap(({ uei }) => uei || []);
  return { $or: [{ uei: { $in: ueis } }, { cage: { $in: identifiers.flatMap(cagesOf) } }] };
}

/** Of several finished loads of a kind, the first one counts. */
export const NEWEST_LOAD_FIRST = { cut_date: -1, finished_at: -1 } as const;

/** Returns the newest file of a kind that is completely loaded. */
export async function newestLoad(
  { loads }: Collections,
  kind: LoadDocument["kind"],
  session?: ClientSession,
): Promise<LoadDocument | undefined> {
  return (await loads.findOne({ kind, state: "done" }, { session, sort: NEWEST_LOAD_FIRST })) ?? undefined;
}

/** What the loaded files say about the exclusions of some entities. */
export interface KnownExclusions {
  /** Returns the rows that may concern one of the entities, including those that have ended. */
  readonly rowsOf: (entity: Identified) => readonly ExclusionDocument[];
  /** The newest exclusions file. */
  readonly file?: Pick<LoadDocument, "file_name" | "cut_date">;
  /** The day whose state of the registry the entities have. */
  readonly registryCutDate?: IsoDate;
  readonly now: Date;
  /** The registry's day. */
  readonly today: IsoDate;
}

/**
 * Reads what the loaded files say about entities; `file` and `registryCutDate` are given where they are being loaded. Rows that
 * are not `isKnown` do not count.
 */
export async function readKnownExclusions(
  collections: Collections,
  identifiers: readonly Identified[],
  {
    session,
    isKnown = () => true,
    ...options
  }: Omit<KnownExclusions, "rowsOf" | "today"> & {
    session?: ClientSession;
    isKnown?: (row: ExclusionDocument) => boolean;
  },
): Promise<KnownExclusions> {
  const rows = await findExclusions(collections, identifiers, session);
  const given = { ...options, today: registryDay(options.now), rowsOf: rowsByIdentifier(rows.filter(isKnown)) };
  if (rows.length === 0) return given;
  const file = given.file ?? (await newestLoad(collections, "exclusions", session));
  const cutDate = given.registryCutDate ?? (await newestLoad(collections, "registry", session))?.cut_date;
  return { ...given, file, registryCutDate: cutDate };
}

function rowsByIdentifier(rows: readonly ExclusionDocument[]): KnownExclusions["rowsOf"] {
  const keyed = rows.flatMap((row) => identifierKeys([row]).map((key) => ({ key, row })));
  const byKey = Map.groupBy(keyed, ({ key }) => key);
  return (entity) => {
    const found = identifierKeys([entity]).flatMap((key) => byKey.get(key) ?? []);
    return [...new Set(found.map(({ row }) => row))];
  };
}

/** Returns the entity with the rows that concern it, and with their file as a source if there are any. */
export function withExclusions(entity: UnversionedEntity, known: KnownExclusions): UnversionedEntity {
  const { file, now, today } = known;
  const identified = everIdentifiedBy(entity);
  const rows = known.rowsOf(identified).filter((row) => concerns(row, identified));
  const exclusions = periodsOf(rows, today);
  const flagEnded = !isOwnUnregistered(entity) && entity.sam?.excluded === true && hasFlagEnded(rows, known);
  const others = entity.sources.filter(({ name }) => name !== "sam_gov_exclusions");
  const source = file && { name: "sam_gov_exclusions", retrieved_at: now, version: file.file_name };
  const sources = source && (flagEnded || exclusions.length > 0) ? [...others, source] : others;
  return { ...entity, exclusions, flag_ended: flagEnded || undefined, sources };
}

/** Returns what an entity keeps of its rows that are not over, in an order that does not depend on the database's. */
export function periodsOf(rows: readonly ExclusionDocument[], today: IsoDate): ExclusionPeriodDocument[] {
  return gravestFirst(rows.filter((row) => row.ended_by === undefined && !isPast(row, today)))
    .slice(0, MAX_EXCLUSIONS)
    .map(({ active_date, termination_date, effect = "bar" }) => ({
      ...(active_date && { active_date }),
      ...(termination_date && { termination_date }),
      ...(effect !== "bar" && { effect }),
    }));
}

/** Returns whether an exclusion does more than another one; of two with the same effect, one of them does. */
export function isGraver(one: Graded, other: Graded): boolean {
  return gravityOf(one) < gravityOf(other);
}

type Graded = Pick<ExclusionDocument, "effect" | "comment">;

function gravityOf({ effect = "bar", comment = "" }: Graded): string {
  return `${exclusionEffects.indexOf(effect)} ${comment}`;
}

/** Returns rows in the order of their effects, then of their first days, so that a limit never hides a graver one. */
export function gravestFirst(rows: readonly ExclusionDocument[]): ExclusionDocument[] {
  const keyOf = ({ _id, effect = "bar", active_date = "" }: ExclusionDocument) =>
    `${exclusionEffects.indexOf(effect)} ${active_date} ${_id}`;
  return rows.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

/**
 * Returns whether the exclusions files show the end of the exclusion that the registry's file flags: one of them lists an
 * exclusion that has begun and ends after that file was cut, and the newest is not older than it. From then on those rows
 * decide.
 */
function hasFlagEnded(
  rows: readonly ExclusionDocument[],
  { file, registryCutDate, today }: Omit<KnownExclusions, "rowsOf">,
): boolean {
  if (!file || !registryCutDate || file.cut_date < registryCutDate) return false;
  return rows.some(({ active_date, termination_date = "indefinite", ended_on }) =>
    ended_on ? ended_on > registryCutDate : termination_date >= registryCutDate && (active_date ?? today) <= today,
  );
}

/** Returns the entity with its exclusions by the loaded files, to be written in this transaction. */
export async function withLoadedExclusions(
  collections: Collections,
  session: ClientSession,
  entity: UnversionedEntity,
  now: Date,
): Promise<UnversionedEntity> {
  const identified = [everIdentifiedBy(entity)];
  await guardIdentifiers(collections, session, identified);
  return withExclusions(entity, await readKnownExclusions(collections, identified, { session, now }));
}

const GUARDED = { $inc: { writes: 1 }, $currentDate: { at: true } } as const;

/**
 * Writes the guards of identifiers, so that a transaction that writes an entity by its exclusions conflicts with one that
 * changes those. Otherwise a load could end an exclusion, and look for the entities that have it, after another call read
 * the exclusion and before it writes its entity.
 */
export function guardIdentifiers(
  collections: Collections,
  session: ClientSession | undefined,
  identified: readonly Identified[],
): Promise<void> {
  return writeGuards(collections, session, identifierKeys(identified));
}

/**
 * Writes guards: transactions that write the same one conflict. Write them before the transaction too, because two
 * transactions can't both create one.
 */
export async function writeGuards(
  { identifierGuards }: Collections,
  session: ClientSession | undefined,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  await identifierGuards.bulkWrite(
    ids.map((_id) => ({ updateOne: { filter: { _id }, update: GUARDED, upsert: true } })),
    { session },
  );
}

/** Writes the guards that exist: much cheaper for a load's many identifiers, few of which other calls are writing. */
export async function touchGuards(
  { identifierGuards }: Collections,
  session: ClientSession,
  identified: readonly Identified[],
): Promise<void> {
  await identifierGuards.updateMany({ _id: { $in: identifierKeys(identified) } }, GUARDED, { session });
}

/** Returns whether any of the guards exists. */
export async function hasGuards(
  { identifierGuards }: Collections,
  identified: readonly Identified[],
): Promise<boolean> {
  const filter = { _id: { $in: identifierKeys(identified) } };
  return (await identifierGuards.findOne(filter, { projection: { _id: 1 } })) !== null;
}

/** Returns a text for each identifier, without duplicates. */
export function identifierKeys(identified: readonly Identified[]): string[] {
  const ids = identified.flatMap((one) => [
    ...(one.uei ? [`uei:${one.uei}`] : []),
    ...cagesOf(one).map((cage) => `cage:${cage}`),
  ]);
  return [...new Set(ids)];
}
