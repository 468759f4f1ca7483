import type {
  Collections,
  ExclusionDocument,
  ExclusionPeriodDocument,
  LoadDocument,
  PublicIdentifiers,
} from "./documents.ts";
import type { IsoDate } from "./registry/dates.ts";

type Identified = Pick<PublicIdentifiers, "uei" | "cage">;

/** An entity takes over at most so many exclusions; one in force is enough to be debarred. */
const MAX_EXCLUSIONS = 100;

/** Does a row concern an entity? By the UEI; by the CAGE where not both name a UEI. */
export function concerns(exclusion: Identified, entity: Identified): boolean {
  if (exclusion.uei && entity.uei) return exclusion.uei === entity.uei;
  return exclusion.cage !== undefined && exclusion.cage === entity.cage;
}

/** The rows that name one of these UEIs or CAGEs and are not over. */
export async function findExclusions(
  collections: Collections,
  identifiers: readonly Identified[],
  today: IsoDate,
): Promise<ExclusionDocument[]> {
  const ueis = identifiers.flatMap(({ uei }) => uei ?? []);
  const cages = identifiers.flatMap(({ cage }) => cage ?? []);
  const ways = [
    ...(ueis.length > 0 ? [{ uei: { $in: ueis } }] : []),
    ...(cages.length > 0 ? [{ cage: { $in: cages } }] : []),
  ];
  if (ways.length === 0) return [];
  const rows = await collections.exclusions.find({ $or: ways }).toArray();
  return rows.filter(({ termination_date: end }) => end === undefined || end === "indefinite" || end >= today);
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
): Promise<LoadDocument | undefined> {
  const newest = collections.loads.find({ kind, state: "done" }).sort({ cut_date: -1, finished_at: -1 }).limit(1);
  return (await newest.toArray())[0];
}
