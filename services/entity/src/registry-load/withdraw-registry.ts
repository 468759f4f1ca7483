import type { EntityDocument, LoadDocument } from "../model/documents.ts";
import { untilUndisturbed } from "../model/entity-writes.ts";
import type { UnversionedEntity } from "../model/snapshots.ts";
import { commitChanges, type LoadTarget } from "./commit.ts";

const BATCH_SIZE = 250;

/**
 * Takes what a load of an extract said from the entities that have their row from it, and from the own entities that
 * stand for them, and lists again what it marked gone; goes on where an earlier run ended. What the row before said is
 * not known any more: the next file applies it.
 */
export async function withdrawRegistry(target: LoadTarget, load: LoadDocument) {
  const counts = { entities: 0, relisted: 0 };
  for (let after = ""; ; ) {
    const batch = await untilUndisturbed(() => withdrawBatch(target, load, after));
    counts.entities += batch.changed;
    if (batch.last === undefined) break;
    after = batch.last;
  }
  counts.relisted = await relist(target, load);
  return counts;
}

async function withdrawBatch(target: LoadTarget, load: LoadDocument, after: string) {
  const { entities } = target.collections;
  const registry = await entities
    .find({ _id: { $gt: after }, "registry_row.load_id": load._id })
    .sort({ _id: 1 })
    .limit(BATCH_SIZE)
    .toArray();
  if (registry.length === 0) return { changed: 0, last: undefined };
  const ids = registry.map(({ _id }) => _id);
  const own = await entities.find({ organization_id: { $gt: "" }, registry_entity_id: { $in: ids } }).toArray();
  const changes = [...registry, ...own].map((previous) => ({ previous, entity: withoutRow(previous) }));
  await commitChanges(target, changes);
  return { changed: changes.length, last: ids.at(-1) };
}

function withoutRow(entity: EntityDocument): UnversionedEntity {
  const { sam, registry_row, listed, version, last_hash, changed_at, ...kept } = entity;
  return { ...kept, sources: entity.sources.filter(({ name }) => name !== "sam_gov_extract") };
}

/** The record of what the load marked stays; marking again what is listed changes nothing. */
async function relist({ transact, collections }: LoadTarget, load: LoadDocument): Promise<number> {
  const { changes, entities } = collections;
  let relisted = 0;
  for await (const { gone } of changes.find({ load_id: load._id, gone: { $ne: [] } }).batchSize(10)) {
    const unlisted = { _id: { $in: [...gone] }, listed: false };
    relisted += await transact(
      async (session) => (await entities.updateMany(unlisted, { $set: { listed: true } }, { session })).modifiedCount,
    );
  }
  return relisted;
}
