import type { Collections, LoadDocument } from "../model/documents.ts";

/** What a load changed in all, by the fields of the public view that changed. */
export interface ChangeSummary {
  readonly added: number;
  readonly changed: number;
  readonly gone: number;
  /** Most frequent first. */
  readonly fields: readonly { readonly field: string; readonly count: number }[];
}

/** What a load did to one entity; its snapshots of this version and the one before tell the values. */
export interface ListedChange {
  readonly kind: "added" | "changed" | "gone";
  readonly entityId: string;
  /** "" for an organization's own entity that carries none. */
  readonly uei: string;
  /** Absent where it is gone, which makes no version. */
  readonly version?: number;
  readonly fields: readonly string[];
}

/** Counts what a load changed, all of its runs together where it was killed and taken up again. */
export async function summarizeChanges({ changes }: Collections, loadId: string): Promise<ChangeSummary> {
  const ofLoad = { $match: { load_id: loadId } };
  const [totals] = await changes
    .aggregate<Record<"added" | "changed" | "gone", number>>([
      ofLoad,
      {
        $group: {
          _id: null,
          added: { $sum: { $size: "$added" } },
          changed: { $sum: { $size: "$changed" } },
          gone: { $sum: { $size: "$gone" } },
        },
      },
    ])
    .toArray();
  const fields = await changes
    .aggregate<{ field: string; count: number }>([
      ofLoad,
      { $unwind: "$changed" },
      { $unwind: "$changed.fields" },
      { $group: { _id: "$changed.fields", count: { $sum: 1 } } },
      { $sort: { count: -1, _id: 1 } },
      { $project: { _id: 0, field: "$_id", count: 1 } },
    ])
    .toArray();
  const { added = 0, changed = 0, gone = 0 } = totals ?? {};
  return { added, changed, gone, fields };
}

/** What a load changed, entity by entity, in the order of the load. */
export async function* listChanges(collections: Collections, loadId: string): AsyncGenerator<ListedChange> {
  const pages = collections.changes.find({ load_id: loadId }).sort({ _id: 1 }).batchSize(10);
  for await (const { added, changed, gone } of pages) {
    const ids = [...added, ...changed.map(({ entity_id }) => entity_id), ...gone];
    const found = await collections.entities
      .find({ _id: { $in: ids } })
      .project<{ _id: string; identifiers: { uei?: string } }>({ "identifiers.uei": 1 })
      .toArray();
    const ueis = new Map(found.map(({ _id, identifiers }) => [_id, identifiers.uei]));
    const listed = (kind: ListedChange["kind"], entityId: string) => {
      return { kind, entityId, uei: ueis.get(entityId) ?? "", fields: [] };
    };
    for (const entityId of added) yield { ...listed("added", entityId), version: 1 };
    for (const { entity_id, version, fields } of changed) yield { ...listed("changed", entity_id), version, fields };
    for (const entityId of gone) yield listed("gone", entityId);
  }
}

/** The load that an operator names: by its id, the beginning of it, or the newest of a file name. */
export async function findLoad({ loads }: Collections, named: string): Promise<LoadDocument | undefined> {
  const byFile = await loads.find({ file_name: named }).sort({ started_at: -1 }).limit(1).toArray();
  if (byFile[0]) return byFile[0];
  const byId = await loads
    .find({ _id: { $gte: named, $lt: `${named}\uffff` } })
    .limit(2)
    .toArray();
  return byId.length === 1 ? byId[0] : undefined;
}
