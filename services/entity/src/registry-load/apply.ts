import type { ClientSession, Filter } from "mongodb";
import { currentCages, everIdentifiedBy } from "../model/cages.ts";
import type { IsoDate } from "../model/dates.ts";
import type { Collections, EntityDocument, SourceDocument, UnversionedEntity } from "../model/documents.ts";
import { untilUndisturbed } from "../model/entity-writes.ts";
import { hasGuards, readKnownExclusions, touchGuards } from "../model/exclusions.ts";
import type { RegistryEntityFacts } from "../model/facts.ts";
import { type ChangeOutcome, commitChanges, type EntityChange, type LoadTarget } from "./commit.ts";
import { factsHash } from "./facts-hash.ts";
import { factsOf, type LoadContext, ownWithRegistry, registryEntity } from "./registry-entity.ts";

/** A file's facts about one UEI. Each UEI occurs once in a batch. */
export interface RegistryItem {
  readonly uei: string;
  /** The facts, or a function that derives them from the known ones; it returns undefined if it can't. */
  readonly facts: RegistryEntityFacts | ((known: RegistryEntityFacts | undefined) => RegistryEntityFacts | undefined);
}

export interface ApplyOptions extends LoadTarget {
  readonly source: SourceDocument;
  /** The date of the registry's state in the items; absent in the sandbox. */
  readonly cutDate?: IsoDate;
}

/** The outcome of an item; `unknown` if its facts can't be derived, because its entity is not known. */
export type ItemOutcome = ChangeOutcome | "unknown";

/**
 * Applies a batch to the registry entities, and to the own entities that took them over. Each entity is written with its
 * snapshot, or not at all; applying the same batch again changes nothing.
 */
export function applyRegistryBatch(options: ApplyOptions, items: readonly RegistryItem[]): Promise<ItemOutcome[]> {
  return untilUndisturbed(async () => {
    const { news, knownIds } = await withoutOld(options.collections, items);
    const outcomes = new Map<RegistryItem, ItemOutcome>();
    if (news.length > 0) {
      for (const [index, outcome] of (await applyNews(options, news, knownIds)).entries()) {
        outcomes.set(news[index]!, outcome);
      }
    }
    return items.map((item) => outcomes.get(item) ?? "unchanged");
  });
}

/**
 * Leaves out items with the same facts as before, and returns the ids of the others' known entities. An item with an
 * exclusion flag is never left out: whether its exclusion has ended depends on the date of the file.
 */
async function withoutOld(
  collections: Collections,
  items: readonly RegistryItem[],
): Promise<{ news: readonly RegistryItem[]; knownIds: string[] }> {
  const stored = await collections.entities
    .find({ "identifiers.uei": { $in: items.map(({ uei }) => uei) }, organization_id: null })
    .project<Pick<EntityDocument, "_id" | "identifiers" | "listed" | "registry_row">>({
      "identifiers.uei": 1,
      listed: 1,
      registry_row: 1,
    })
    .toArray();
  const byUei = new Map(stored.map((entity) => [entity.identifiers.uei!, entity]));
  const old = new Map<string, RegistryEntityFacts>();
  for (const { uei, facts } of items) {
    const entity = byUei.get(uei);
    if (!entity?.listed || typeof facts === "function" || facts.sam.excluded) continue;
    if (entity.registry_row?.hash === factsHash(facts)) old.set(uei, facts);
  }
  for (const uei of await findWaiting(collections, [...old.values()])) old.delete(uei);
  const news = items.filter(({ uei }) => !old.has(uei));
  return { news, knownIds: news.flatMap(({ uei }) => byUei.get(uei)?._id ?? []) };
}

/** Returns the UEIs that an own entity has not taken over, because it was created while they were being loaded. */
async function findWaiting(collections: Collections, facts: readonly RegistryEntityFacts[]): Promise<string[]> {
  if (facts.length === 0) return [];
  const notTakenOver = { registry_entity_id: { $exists: false } };
  const waiting = await collections.entities
    .find({ $or: carrying(facts).map((way) => ({ ...way, ...notTakenOver })) })
    .project<Pick<EntityDocument, "identifiers">>({ identifiers: 1 })
    .toArray();
  return facts.flatMap((one) => {
    const cages = cagesIn(one);
    const isMeant = ({ identifiers: own }: Pick<EntityDocument, "identifiers">) =>
      own.uei ? own.uei === one.uei : own.cage !== undefined && cages.includes(own.cage);
    return waiting.some(isMeant) ? one.uei : [];
  });
}

/** Returns filters for the own entities, of any organization, that carry a UEI or CAGE of these facts. */
function carrying(facts: readonly RegistryEntityFacts[]): Filter<EntityDocument>[] {
  const anyOrganization = { organization_id: { $gt: "" } };
  return [
    { "identifiers.uei": { $in: facts.map(({ uei }) => uei) }, ...anyOrganization },
    { "identifiers.cage": { $in: facts.flatMap(cagesIn) }, ...anyOrganization },
  ];
}

function cagesIn({ sam: { cage }, other_cages = [] }: RegistryEntityFacts): string[] {
  return cage ? [cage, ...other_cages] : [...other_cages];
}

async function applyNews(
  options: ApplyOptions,
  items: readonly RegistryItem[],
  knownIds: readonly string[],
): Promise<ItemOutcome[]> {
  const { collections } = options;
  const known = knownIds.length > 0 ? await collections.entities.find({ _id: { $in: [...knownIds] } }).toArray() : [];
  const knownByUei = new Map(known.map((entity) => [entity.identifiers.uei!, entity]));
  const facts = items.map(({ uei, facts: given }) => {
    const entity = knownByUei.get(uei);
    return typeof given === "function" ? given(entity?.sam && factsOf(entity)) : given;
  });
  const named = facts.filter((one) => one !== undefined);
  const own = await findOwn(collections, named, known);
  const identifiers = [...named.map((one) => ({ uei: one.uei, cages: cagesIn(one) })), ...known.map(everIdentifiedBy)];
  const context = await contextOf(options, identifiers, own);
  const registryChanges = named.map((one) => {
    const previous = knownByUei.get(one.uei);
    return { previous, entity: registryEntity(previous, one, context) };
  });
  const ownChanges = await takeOvers(collections, context, own, registryChanges);
  const committed = await commitChanges(options, [...registryChanges, ...ownChanges]);
  const written = registryChanges.filter((_, index) => committed[index] !== "unchanged");
  if (written.length > 0) await untilUndisturbed(() => takeOverCreated(options, named, written));
  const outcomes = committed.values();
  return facts.map((one) => (one ? outcomes.next().value! : "unknown"));
}

/**
 * Lets own entities take over these registry entities if they were created, or got their identifiers, while those were
 * written. Their writers write a guard before and in their transaction. A writer whose guard is not there yet will see
 * the registry entities; for the others, this transaction waits, or they start again. If the load is killed before this,
 * loading the file again does it.
 */
async function takeOverCreated(
  options: ApplyOptions,
  facts: readonly RegistryEntityFacts[],
  registryChanges: readonly EntityChange[],
): Promise<void> {
  const { collections } = options;
  const identifiers = registryChanges.map(({ entity }) => everIdentifiedBy(entity));
  if (!(await hasGuards(collections, identifiers))) return;
  await options.transact(async (session) => {
    await touchGuards(collections, session, identifiers);
    const own = await findOwn(collections, facts, [], session);
    if (own.every(({ registry_entity_id }) => registry_entity_id !== undefined)) return;
    const context = await contextOf(options, identifiers, own);
    const changes = await takeOvers(collections, context, own, registryChanges, session);
    await commitChanges({ ...options, transact: (work) => work(session) }, changes);
  });
}

/** Finds the own entities that carry a UEI or CAGE of the batch, or took one of its entities over before. */
async function findOwn(
  { entities }: Collections,
  facts: readonly RegistryEntityFacts[],
  known: readonly EntityDocument[],
  session?: ClientSession,
): Promise<EntityDocument[]> {
  const ways = carrying(facts);
  if (known.length > 0) ways.push({ registry_entity_id: { $in: known.map(({ _id }) => _id) } });
  return entities.find({ $or: ways }, { session }).toArray();
}

async function contextOf(
  { collections, source, loadId, now, cutDate: registryCutDate }: ApplyOptions,
  identifiers: readonly ReturnType<typeof everIdentifiedBy>[],
  own: readonly EntityDocument[],
): Promise<LoadContext> {
  const all = [...identifiers, ...own.map(everIdentifiedBy)];
  return { source, exclusions: await readKnownExclusions(collections, all, { now, registryCutDate }), loadId, now };
}

/** Returns the changes of the own entities that take registry entities over, at most one per organization for each. */
export async function takeOvers(
  collections: Collections,
  context: Pick<LoadContext, "exclusions">,
  own: readonly EntityDocument[],
  registryChanges: readonly EntityChange[],
  session?: ClientSession,
): Promise<EntityChange[]> {
  const changes: EntityChange[] = [];
  if (own.length === 0) return changes;
  const taken = new Set<string>();
  const registry = registryChanges.map(({ entity }) => entity);
  const byId = new Map(registry.map((entity) => [entity._id, entity]));
  const byUei = new Map(registry.map((entity) => [entity.identifiers.uei, entity]));
  const byCage = new Map(registry.toReversed().flatMap((entity) => currentCages(entity).map((cage) => [cage, entity])));
  const takeOver = async (previous: EntityDocument, row: UnversionedEntity | undefined) => {
    if (!row) return;
    const key = `${previous.organization_id} ${row._id}`;
    if (taken.has(key) || taken.has(previous._id)) return;
    taken.add(key).add(previous._id);
    const { cage } = row.identifiers;
    const claim = `${previous.organization_id} cage:${cage}`;
    // Two rows of one batch can have the same CAGE.
    const takesCage = !taken.has(claim) && (await isCageFree(collections, previous, cage, session));
    if (takesCage && cage !== undefined) taken.add(claim);
    changes.push({ previous, entity: ownWithRegistry(previous, row, context, takesCage) });
  };
  for (const entity of own) {
    await takeOver(entity, byId.get(entity.registry_entity_id ?? "") ?? byUei.get(entity.identifiers.uei ?? ""));
  }
  for (const entity of own) {
    const { uei, cage } = entity.identifiers;
    if (uei === undefined && cage !== undefined) await takeOver(entity, byCage.get(cage));
  }
  return changes;
}

/** Returns whether no other own entity of the organization carries a CAGE. */
export async function isCageFree(
  { entities }: Collections,
  own: EntityDocument,
  cage: string | undefined,
  session: ClientSession | undefined,
): Promise<boolean> {
  if (cage === undefined || own.identifiers.cage === cage) return true;
  const filter = { organization_id: own.organization_id, claims: `cage:${cage}`, _id: { $ne: own._id } };
  return (await entities.findOne(filter, { projection: { _id: 1 }, session })) === null;
}
