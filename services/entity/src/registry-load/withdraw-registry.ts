import { everIdentifiedBy, formerCages } from "../model/cages.ts";
import type { Collections, EntityDocument, LoadDocument, UnversionedEntity } from "../model/documents.ts";
import { untilUndisturbed } from "../model/entity-writes.ts";
import { readKnownExclusions, withExclusions } from "../model/exclusions.ts";
import { matchKeysOf } from "../model/match-keys.ts";
import { claimsOf } from "../model/own-entity.ts";
import { isCageFree, takeOvers } from "./apply.ts";
import { commitChanges, type EntityChange, type LoadTarget } from "./commit.ts";

const BATCH_SIZE = 250;

/**
 * Gives the entities with a row from a load of an extract, and the own entities that took those over, the row before it again,
 * and lists again what it marked gone. Only one earlier row is stored: entities without one lose their facts and the CAGEs that no
 * earlier load gave, until the next file. Continues an earlier run that was killed.
 */
export async function withdrawRegistry(target: LoadTarget, load: LoadDocument) {
  const counts = { entities: 0, relisted: 0 };
  for (let after = ""; ; ) {
    const batch = await untilUndisturbed(() => withdrawBatch(target, load, after));
    if (batch.last === undefined) break;
    counts.entities += batch.changed;
    after = batch.last;
  }
  counts.relisted = await relist(target, load);
  return counts;
}

async function withdrawBatch(target: LoadTarget, load: LoadDocument, after: string) {
  const { collections, now } = target;
  const { entities } = collections;
  const registry = await entities
    .find({ _id: { $gt: after }, "registry_row.load_id": load._id })
    .sort({ _id: 1 })
    .limit(BATCH_SIZE)
    .toArray();
  const ids = registry.map(({ _id }) => _id);
  const own = await entities.find({ organization_id: { $gt: "" }, registry_entity_id: { $in: ids } }).toArray();
  const rowless = new Set(registry.filter(({ row_before }) => !row_before).map(({ _id }) => _id));
  const isTakenByIt = ({ before_takeover, registry_entity_id }: EntityDocument) =>
    before_takeover?.load_id === load._id || (before_takeover !== undefined && rowless.has(registry_entity_id!));
  const ownWithdrawn: { previous: EntityDocument; entity: UnversionedEntity; isRestored: boolean }[] = [];
  for (const previous of own) {
    const isRestored = isTakenByIt(previous);
    const before = ownWithdrawn.map(({ entity }) => entity);
    const entity = isRestored ? await asBeforeTakeover(collections, previous, before) : withoutRow(previous);
    ownWithdrawn.push({ previous, entity, isRestored });
  }
  const withdrawn = [...registry.map((previous) => ({ previous, entity: withEarlierRow(previous) })), ...ownWithdrawn];
  const identifiers = withdrawn.map(({ entity }) => everIdentifiedBy(entity));
  const exclusions = await readKnownExclusions(collections, identifiers, { now });
  const changes = withdrawn.map(({ previous, entity }) => ({ previous, entity: withExclusions(entity, exclusions) }));
  const restored = changes.filter(({ previous }) => previous.row_before);
  // As if the own ones had never had the withdrawn row, nor its name.
  const bare = ownWithdrawn.map(({ previous, entity, isRestored }) => {
    const without = { ...previous, ...entity };
    return isRestored ? without : { ...without, sources: previous.sources, placeholder: true };
  });
  const taken = new Map(
    (await takeOvers(collections, { exclusions }, bare, restored)).map((each) => [each.entity._id, each]),
  );
  const entityOf = ({ entity }: EntityChange) => taken.get(entity._id)?.entity ?? entity;
  await commitChanges(
    target,
    changes.map((change) => ({ previous: change.previous, entity: entityOf(change) })),
  );
  return { changed: changes.length, last: ids.at(-1) };
}

/** Returns a registry entity by the row before; without one, without a row. */
function withEarlierRow(entity: EntityDocument): UnversionedEntity {
  const { row_before, ...bare } = withoutRow(entity);
  if (!row_before) return bare;
  const named = { ...row_before, placeholder: false };
  return { ...bare, other_cages: undefined, former_cages: undefined, ...named, ...matchKeysOf(named) };
}

/**
 * Returns an own entity as it was before it took a registry entity over, with the identifiers that it was given since, but without
 * a CAGE that another own entity has now. `restored` are those of the same write.
 */
async function asBeforeTakeover(
  collections: Collections,
  previous: EntityDocument,
  restored: readonly UnversionedEntity[],
): Promise<UnversionedEntity> {
  const { before_takeover, registry_entity_id, ...bare } = withoutRow(previous);
  const { load_id, identifiers: before, ...named } = before_takeover!;
  const { uei, ...given } = bare.identifiers;
  const isTaken = restored.some(
    ({ organization_id, identifiers: { cage } }) =>
      organization_id === previous.organization_id && cage === before.cage,
  );
  const hasItsCage = before.cage && !isTaken && (await isCageFree(collections, previous, before.cage, undefined));
  const identifiers = {
    ...given,
    ...(before.uei && { uei: before.uei }),
    ...(hasItsCage && { cage: before.cage }),
  };
  const entity = { ...bare, ...named, ...matchKeysOf(named), identifiers, claims: claimsOf(identifiers) };
  return {
    ...entity,
    former_cages: formerCages(entity, [bare]),
    before_takeover: undefined,
    // One with the registry entity's own UEI still stands for what is left of that one.
    registry_entity_id: before.uei ? registry_entity_id : undefined,
  };
}

function withoutRow(entity: EntityDocument): UnversionedEntity {
  const { sam, flag_ended, registry_row, listed, new_cages = [], version, last_hash, changed_at, ...kept } = entity;
  const { cage, ...others } = entity.identifiers;
  const identifiers = cage && !new_cages.includes(cage) ? { ...others, cage } : others;
  const otherCages = entity.other_cages?.filter((one) => !new_cages.includes(one)) ?? [];
  return {
    ...kept,
    identifiers,
    ...(entity.claims && { claims: claimsOf(identifiers) }),
    other_cages: otherCages.length > 0 ? otherCages : undefined,
    // What is left of a registry entity is still from the file: its name and addresses.
    sources: entity.sources.filter(({ name }) => name !== "sam_gov_extract" || entity.organization_id === null),
  };
}

/** Lists again what the load marked gone, with a snapshot. Its record of that stays. */
async function relist(target: LoadTarget, load: LoadDocument): Promise<number> {
  const { changes, entities } = target.collections;
  let relisted = 0;
  for await (const { gone } of changes.find({ load_id: load._id, gone: { $ne: [] } }).batchSize(10)) {
    relisted += await target.transact(async (session) => {
      const registry = await entities.find({ _id: { $in: [...gone] }, listed: false }, { session }).toArray();
      const ownOfThese = { registry_entity_id: { $in: [...gone] }, organization_id: { $gt: "" } };
      const own = await entities.find({ ...ownOfThese, listed: false }, { session }).toArray();
      const changed = [
        ...registry.map((previous) => ({ previous, entity: { ...previous, listed: true } })),
        ...own.map((previous) => ({ previous, entity: { ...previous, listed: undefined } })),
      ];
      await commitChanges({ ...target, transact: (work) => work(session) }, changed);
      return registry.length;
    });
  }
  return relisted;
}
