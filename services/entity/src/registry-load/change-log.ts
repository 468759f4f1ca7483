import type { ClientSession, ObjectId } from "mongodb";
import type { ChangePageDocument, Collections, LoadChanges, LoadDocument } from "../model/documents.ts";
import { RegistryFileError } from "./files/errors.ts";
import type { WatchedEffect } from "./watched-effect.ts";

/** Where a run of a load records its changes. */
export interface RecordedRun {
  readonly collections: Collections;
  /** The load, or the withdrawal; undefined for writes that are not a load of a file, which are not recorded. */
  readonly loadId: string | undefined;
  /** This run of it, of which there are several after a kill. */
  readonly runId?: ObjectId;
}

/** What a load did to one entity; its snapshots of this version and the previous one have the values. */
export interface ListedChange {
  readonly kind: "added" | "changed" | "gone";
  readonly entityId: string;
  /** "" for an organization's own entity without one. */
  readonly uei: string;
  /** Absent for an entity that is gone. */
  readonly version?: number;
  readonly fields: readonly string[];
}

/**
 * Records changes in the transaction that makes them. Those that monitors watch are marked as not published, until the load
 * or withdrawal is finished and they are.
 */
export async function recordChanges(
  { collections, loadId, runId }: RecordedRun,
  session: ClientSession,
  made: Partial<Pick<ChangePageDocument, "added" | "changed" | "gone">> & {
    /** By the id of the entity; without those that are gone. */
    effects?: ReadonlyMap<string, WatchedEffect>;
  },
): Promise<void> {
  if (loadId === undefined) return;
  const { added = [], changed = [], gone = [], effects = new Map<string, WatchedEffect>() } = made;
  const withEffect = (wanted: WatchedEffect) => [...effects].flatMap(([id, effect]) => (effect === wanted ? id : []));
  const watched = effects.size > 0 && {
    watched: [...effects.keys()],
    excluded: withEffect("excluded"),
    cleared: withEffect("cleared"),
  };
  const unpublished = watched || gone.length > 0 ? runId : undefined;
  await collections.changes.insertOne({ load_id: loadId, added, changed, gone, ...watched, unpublished }, { session });
}

/** Counts what all runs of a load changed. */
export async function summarizeChanges({ changes }: Collections, loadId: string): Promise<LoadChanges> {
  const summary = { added: 0, changed: 0, gone: 0 };
  const counts = new Map<string, number>();
  const pages = changes.find({ load_id: loadId }).project<{ added: number; changed: string[][]; gone: number }>({
    added: { $size: "$added" },
    changed: "$changed.fields",
    gone: { $size: "$gone" },
  });
  for await (const { added, changed, gone } of pages) {
    summary.added += added;
    summary.changed += changed.length;
    summary.gone += gone;
    for (const field of changed.flat()) counts.set(field, (counts.get(field) ?? 0) + 1);
  }
  const fields = Array.from(counts, ([field, count]) => ({ field, count }));
  return { ...summary, fields: fields.sort((a, b) => b.count - a.count || (a.field < b.field ? -1 : 1)) };
}

/** Yields what a load changed, entity by entity, in the order of the load. */
export async function* listChanges(collections: Collections, loadId: string): AsyncGenerator<ListedChange> {
  const pages = collections.changes.find({ load_id: loadId }).sort({ _id: 1 }).batchSize(10);
  for await (const { added, changed, gone } of pages) {
    const ids = [...added, ...changed.map(({ entity_id }) => entity_id), ...gone];
    const found = await collections.entities
      .find({ _id: { $in: ids } })
      .project<{ _id: string; identifiers: { uei?: string } }>({ "identifiers.uei": 1 })
      .toArray();
    const ueis = new Map(found.map(({ _id, identifiers }) => [_id, identifiers.uei]));
    const uei = (entityId: string) => ueis.get(entityId) ?? "";
    for (const entityId of added) yield { kind: "added", entityId, uei: uei(entityId), version: 1, fields: [] };
    for (const { entity_id: entityId, ...change } of changed) {
      yield { kind: "changed", entityId, uei: uei(entityId), ...change };
    }
    for (const entityId of gone) yield { kind: "gone", entityId, uei: uei(entityId), fields: [] };
  }
}

/**
 * Returns the load that an operator names by its id, the beginning of it, or a file name; never a refused file, which may have the
 * name of one that is loaded. Errors: RegistryFileError.
 */
export async function findLoad({ loads }: Collections, name: string): Promise<LoadDocument> {
  const begun = { state: { $ne: "refused" as const } };
  const byFile = await loads.findOne({ ...begun, file_name: name }, { sort: { started_at: -1 } });
  if (byFile) return byFile;
  const byId = { ...begun, _id: { $gte: name, $lt: `${name}\uffff` } };
  const [load, ...others] = await loads.find(byId).limit(2).toArray();
  if (load && others.length === 0) return load;
  throw new RegistryFileError(`No load, or more than one, is named ${name}; the command "loads" lists them`);
}
