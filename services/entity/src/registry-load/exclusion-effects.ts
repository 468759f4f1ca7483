import { isDeepStrictEqual } from "node:util";
import { inBatches } from "@vvs/batching";
import type { ClientSession, Filter } from "mongodb";
import { everIdentifiedBy } from "../model/cages.ts";
import type { Collections, ExclusionDocument, LoadDocument, UnversionedEntity } from "../model/documents.ts";
import { readKnownExclusions, withExclusions } from "../model/exclusions.ts";
import { type RecordedRun, recordChanges } from "./change-log.ts";
import { commitChanges, type LoadTarget } from "./commit.ts";
import type { WatchedEffect } from "./watched-effect.ts";

/** Number of rows that are read and written together. */
export const EXCLUSIONS_BATCH = 1_000;

/** What finds the entities of a row. */
export type NamingRow = Pick<ExclusionDocument, "uei" | "cage">;

const CAGE_FIELDS = ["identifiers.cage", "other_cages", "former_cages"] as const;

/** Yields stored rows in the order of their keys. Rows that are written meanwhile may leave the filter. */
export function storedBatches({ exclusions }: Collections, filter: Filter<ExclusionDocument>) {
  return inBatches(exclusions.find(filter, { sort: { _id: 1 }, batchSize: EXCLUSIONS_BATCH }), EXCLUSIONS_BATCH);
}

/** Yields who the stored rows name, and which load changed them, in the order of their keys. */
export function namingBatches({ exclusions }: Collections, filter: Filter<ExclusionDocument>) {
  const projection = { uei: 1, cage: 1, changed_by: 1 };
  const found = exclusions.find(filter, { sort: { _id: 1 }, batchSize: EXCLUSIONS_BATCH });
  return inBatches(
    found.project<NamingRow & Pick<ExclusionDocument, "_id" | "changed_by">>(projection),
    EXCLUSIONS_BATCH,
  );
}

/**
 * Writes the entities that rows may concern with their exclusions by the known rows; returns how many changed. `file` is
 * the newest one unless given.
 */
export async function refreshEntities(
  target: LoadTarget,
  rows: readonly NamingRow[],
  options: {
    file?: Pick<LoadDocument, "file_name" | "cut_date">;
    isKnown?: (row: ExclusionDocument) => boolean;
    session?: ClientSession;
  },
): Promise<number> {
  const { collections, now } = target;
  const cages = rows.flatMap(({ cage }) => cage ?? []);
  const ways = [
    { "identifiers.uei": { $in: rows.flatMap(({ uei }) => uei ?? []) } },
    ...CAGE_FIELDS.map((field) => ({ [field]: { $in: cages } })),
  ];
  const found = await collections.entities.find({ $or: ways }, { session: options.session }).toArray();
  if (found.length === 0) return 0;
  const known = await readKnownExclusions(collections, found.map(everIdentifiedBy), { ...options, now });
  const changes = found
    .map((previous) => ({ previous, entity: withExclusions(previous, known) }))
    .filter(({ previous, entity }) => !isDeepStrictEqual(excludedBy(previous), excludedBy(entity)));
  const outcomes = await commitChanges(target, changes);
  return outcomes.filter((outcome) => outcome !== "unchanged").length;
}

/** Returns what rows decide of an entity, apart from their source. */
function excludedBy({ exclusions = [], flag_ended = false }: UnversionedEntity) {
  return { exclusions, flag_ended };
}

/**
 * Records, in the transaction that changes rows, the entities for which an organization supplied a UEI or CAGE of them. No
 * entity carries it, but the organization's checks ask with it.
 */
export async function recordRemembering(
  run: RecordedRun,
  session: ClientSession,
  rows: readonly NamingRow[],
  effect: WatchedEffect,
): Promise<void> {
  if (rows.length === 0) return;
  const values = rows.flatMap(({ uei, cage }) => [uei, cage].filter((value) => value !== undefined));
  const supplied = { type: { $in: ["uei" as const, "cage" as const] }, value: { $in: values } };
  const ids = await run.collections.remembered.distinct("entity_id", supplied, { session });
  if (ids.length > 0) await recordChanges(run, session, { effects: new Map(ids.map((id) => [id, effect])) });
}
