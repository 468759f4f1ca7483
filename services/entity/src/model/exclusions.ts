import type { ClientSession } from "mongodb";
import { dateOf, type IsoDate } from "./dates.ts";
import type {
  Collections,
  ExclusionDocument,
  ExclusionPeriodDocument,
  LoadDocument,
  PublicIdentifiers,
  SourceDocument,
} from "./documents.ts";
import type { UnversionedEntity } from "./snapshots.ts";

type Identified = Pick<PublicIdentifiers, "uei" | "cage">;

/** An entity takes over at most so many exclusions; one in force is enough to be debarred. */
const MAX_EXCLUSIONS = 100;

/** Does a row concern an entity? By the UEI; by the CAGE where not both name a UEI. */
export function concerns(exclusion: Identified, entity: Identified): boolean {
  if (exclusion.uei && entity.uei) return exclusion.uei === entity.uei;
  return exclusion.cage !== undefined && exclusion.cage === entity.cage;
}

/** The rows that name one of these UEIs or CAGEs, have not ended and are not past their last day. */
export async function findExclusions(
  collections: Collections,
  identifiers: readonly Identified[],
  today: IsoDate,
  session?: ClientSession,
): Promise<ExclusionDocument[]> {
  const rows = await findAllExclusions(collections, identifiers, session);
  return rows.filter((row) => row.ended_by === undefined && !isPast(row, today));
}

/** Is the last day of an exclusion over? */
export function isPast({ termination_date: end }: ExclusionPeriodDocument, today: IsoDate): boolean {
  return end !== undefined && end !== "indefinite" && end < today;
}

/** The rows that name one of these UEIs or CAGEs, also those that have ended. */
export async function findAllExclusions(
  collections: Collections,
  identifiers: readonly Identified[],
  session?: ClientSession,
): Promise<ExclusionDocument[]> {
  const ueis = identifiers.flatMap(({ uei }) => uei ?? []);
  const cages = identifiers.flatMap(({ cage }) => cage ?? []);
  const ways = [
    ...(ueis.length > 0 ? [{ uei: { $in: ueis } }] : []),
    ...(cages.length > 0 ? [{ cage: { $in: cages } }] : []),
  ];
  return ways.length > 0 ? collections.exclusions.find({ $or: ways }, { session }).toArray() : [];
}

/** What an entity keeps of the rows that concern it, in an order that does not depend on the store's. */
export function periodsOf(rows: readonly ExclusionDocument[], entity: Identified): ExclusionPeriodDocument[] {
  return rows
    .filter((row) => concerns(row, entity))
    .sort((a, b) => (a._id < b._id ? -1 : 1))
    .slice(0, MAX_EXCLUSIONS)
    .map(({ active_date, termination_date }) => ({
      ...(active_date && { active_date }),
      ...(termination_date && { termination_date }),
    }));
}

/** The newest file of a kind that is wholly loaded. */
export async function newestLoad(
  collections: Collections,
  kind: LoadDocument["kind"],
  session?: ClientSession,
): Promise<LoadDocument | undefined> {
  const newest = collections.loads
    .find({ kind, state: "done" }, { session })
    .sort({ cut_date: -1, finished_at: -1 })
    .limit(1);
  return (await newest.toArray())[0];
}

export function exclusionsSource(fileName: string, retrievedAt: Date): SourceDocument {
  return { name: "sam_gov_exclusions", retrieved_at: retrievedAt, version: fileName };
}

/** The entity with those of the rows that concern it, and with their file as a source where there are any. */
export function withExclusions(
  entity: UnversionedEntity,
  rows: readonly ExclusionDocument[],
  source: SourceDocument | undefined,
): UnversionedEntity {
  const exclusions = periodsOf(rows, entity.identifiers);
  const others = entity.sources.filter(({ name }) => name !== "sam_gov_exclusions");
  return { ...entity, exclusions, sources: exclusions.length > 0 && source ? [...others, source] : others };
}

/** The entity with what the loaded exclusions say of it, to be written in this transaction. */
export async function withLoadedExclusions(
  collections: Collections,
  session: ClientSession,
  entity: UnversionedEntity,
  now: Date,
): Promise<UnversionedEntity> {
  await guardIdentifiers(collections, session, [entity.identifiers]);
  const rows = await findExclusions(collections, [entity.identifiers], dateOf(now), session);
  const load = rows.length > 0 ? await newestLoad(collections, "exclusions", session) : undefined;
  return withExclusions(entity, rows, load && exclusionsSource(load.file_name, now));
}

const GUARDED = { $inc: { writes: 1 }, $currentDate: { at: true } } as const;

/**
 * Lets a transaction that writes an entity by its exclusions and one that changes those meet on a document: otherwise a
 * load could end an exclusion, and look for the entities that have it, between the reading and the writing of another.
 */
export async function guardIdentifiers(
  { identifierGuards }: Collections,
  session: ClientSession | undefined,
  identified: readonly Identified[],
): Promise<void> {
  const ids = guardIdsOf(identified);
  if (ids.length === 0) return;
  await identifierGuards.bulkWrite(
    ids.map((_id) => ({ updateOne: { filter: { _id }, update: GUARDED, upsert: true } })),
    { session },
  );
}

/** Writes those guards that exist: far cheaper for the many identifiers of a load, which few calls write meanwhile. */
export async function touchGuards(
  { identifierGuards }: Collections,
  session: ClientSession,
  identified: readonly Identified[],
): Promise<void> {
  await identifierGuards.updateMany({ _id: { $in: guardIdsOf(identified) } }, GUARDED, { session });
}

function guardIdsOf(identified: readonly Identified[]): string[] {
  const ids = identified.flatMap(({ uei, cage }) => [
    ...(uei ? [`uei:${uei}`] : []),
    ...(cage ? [`cage:${cage}`] : []),
  ]);
  return [...new Set(ids)];
}
