import type { ClientSession, Filter } from "mongodb";
import { dateOf } from "../model/dates.ts";
import type { Collections, EntityDocument, SourceDocument } from "../model/documents.ts";
import { untilUndisturbed } from "../model/entity-writes.ts";
import { exclusionsSource, findExclusions, newestLoad, touchGuards } from "../model/exclusions.ts";
import type { RegistryEntityFacts } from "../model/facts.ts";
import type { UnversionedEntity } from "../model/snapshots.ts";
import { type ChangeOutcome, commitChanges, type EntityChange, type LoadTarget } from "./commit.ts";
import { factsHash } from "./facts-hash.ts";
import { factsOf, type LoadContext, ownWithRegistry, registryEntity } from "./registry-entity.ts";

/** What a file says of one UEI. Each UEI comes once in a batch. */
export interface RegistryItem {
  readonly uei: string;
  /** The facts; or how to tell them from those known before, undefined where it says too little of an unknown entity. */
  readonly facts: RegistryEntityFacts | ((known: RegistryEntityFacts | undefined) => RegistryEntityFacts | undefined);
}

export interface ApplyOptions extends LoadTarget {
  readonly source: SourceDocument;
}

/** What became of an item: `unknown` says too little of an entity that is not known. */
export type ItemOutcome = ChangeOutcome | "unknown";

/**
 * Brings the registry entities of a batch to what a file says, and with them the own entities that stand for them in
 * their organizations. Each entity with its snapshot or not at all; the same again changes nothing.
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

/** Leaves out what is known to the letter, and finds of which others there is an entity. */
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
  if (stored.length === 0) return { news: items, knownIds: [] };
  const byUei = new Map(stored.map((entity) => [entity.identifiers.uei!, entity]));
  const old = new Map<string, RegistryEntityFacts>();
  for (const { uei, facts } of items) {
    const entity = byUei.get(uei);
    if (!entity?.listed || typeof facts === "function") continue;
    if (entity.registry_row?.hash === factsHash(facts)) old.set(uei, facts);
  }
  for (const uei of await awaited(collections, old)) old.delete(uei);
  const news = items.filter(({ uei }) => !old.has(uei));
  return { news, knownIds: news.flatMap(({ uei }) => byUei.get(uei)?._id ?? []) };
}

/** Which of these an own entity waits for: one that was created while they were being loaded. */
async function awaited(
  { entities }: Collections,
  facts: ReadonlyMap<string, RegistryEntityFacts>,
): Promise<readonly string[]> {
  const ofOrganizations = { organization_id: { $gt: "" }, registry_entity_id: { $exists: false } };
  const cages = [...facts.values()].flatMap(({ cage }) => cage ?? []);
  const waiting = await entities
    .find({
      $or: [
        { "identifiers.uei": { $in: [...facts.keys()] }, ...ofOrganizations },
        { "identifiers.cage": { $in: cages }, ...ofOrganizations },
      ],
    })
    .project<Pick<EntityDocument, "identifiers">>({ identifiers: 1 })
    .toArray();
  if (waiting.length === 0) return [];
  const ueis = new Set(waiting.map(({ identifiers }) => identifiers.uei));
  const waitingCages = new Set(waiting.flatMap(({ identifiers: { uei, cage } }) => (uei ? [] : (cage ?? []))));
  return [...facts.values()]
    .filter(({ uei, cage }) => ueis.has(uei) || (cage !== undefined && waitingCages.has(cage)))
    .map(({ uei }) => uei);
}

async function applyNews(
  options: ApplyOptions,
  items: readonly RegistryItem[],
  knownIds: readonly string[],
): Promise<ItemOutcome[]> {
  const { collections } = options;
  const known = knownIds.length > 0 ? await collections.entities.find({ _id: { $in: [...knownIds] } }).toArray() : [];
  const knownByUei = new Map(known.map((entity) => [entity.identifiers.uei!, entity]));
  const facts = items.map(({ uei, facts: told }) => {
    const entity = knownByUei.get(uei);
    return typeof told === "function" ? told(entity?.sam && factsOf(entity)) : told;
  });
  const named = facts.filter((one) => one !== undefined);
  const own = await findOwn(collections, named, known);
  const context = await contextOf(options, [...named, ...own.map(({ identifiers }) => identifiers)]);
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
 * Takes over own entities that were created, or got their identifiers, while these registry entities were written. Their
 * writers wrote a guard before their transaction and write it again in it. A guard that this transaction sees makes it
 * wait for them, or them begin again; where it does not see the guard, they see the registry entities. A kill before
 * this: the same load again takes them over.
 */
function takeOverCreated(
  options: ApplyOptions,
  facts: readonly RegistryEntityFacts[],
  registryChanges: readonly EntityChange[],
): Promise<void> {
  const { collections } = options;
  return options.transact(async (session) => {
    const identified = registryChanges.map(({ entity }) => entity.identifiers);
    await touchGuards(collections, session, identified);
    const own = await findOwn(collections, facts, [], session);
    if (own.every(({ registry_entity_id }) => registry_entity_id !== undefined)) return;
    const context = await contextOf(options, [...identified, ...own.map(({ identifiers }) => identifiers)]);
    const changes = await takeOvers(collections, context, own, registryChanges, session);
    await commitChanges({ ...options, transact: (work) => work(session) }, changes);
  });
}

/** Own entities, of any organization, that carry a UEI or CAGE of the batch or took one of its entities over before. */
async function findOwn(
  { entities }: Collections,
  facts: readonly RegistryEntityFacts[],
  known: readonly EntityDocument[],
  session?: ClientSession,
): Promise<EntityDocument[]> {
  const anyOrganization = { organization_id: { $gt: "" } };
  const ways: Filter<EntityDocument>[] = [
    { "identifiers.uei": { $in: facts.map(({ uei }) => uei) }, ...anyOrganization },
    { "identifiers.cage": { $in: facts.flatMap(({ cage }) => cage ?? []) }, ...anyOrganization },
  ];
  if (known.length > 0) ways.push({ registry_entity_id: { $in: known.map(({ _id }) => _id) } });
  return entities.find({ $or: ways }, { session }).toArray();
}

async function contextOf(
  { collections, source, loadId, now }: ApplyOptions,
  identifiers: readonly { uei?: string; cage?: string }[],
): Promise<LoadContext> {
  const exclusions = await findExclusions(collections, identifiers, dateOf(now));
  const load = exclusions.length > 0 ? await newestLoad(collections, "exclusions") : undefined;
  return { source, exclusions, exclusionsSource: load && exclusionsSource(load.file_name, now), loadId, now };
}

/** The own entities that stand for registry entities, at most one of an organization for each. */
async function takeOvers(
  collections: Collections,
  context: LoadContext,
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
  const byCage = new Map(registry.toReversed().map((entity) => [entity.identifiers.cage, entity]));
  const takeOver = async (previous: EntityDocument, row: UnversionedEntity | undefined) => {
    if (!row) return;
    const key = `${previous.organization_id} ${row._id}`;
    if (taken.has(key) || taken.has(previous._id)) return;
    taken.add(key).add(previous._id);
    const takesCage = await isCageFree(collections, previous, row.identifiers.cage, session);
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

async function isCageFree(
  { entities }: Collections,
  own: EntityDocument,
  cage: string | undefined,
  session: ClientSession | undefined,
): Promise<boolean> {
  if (cage === undefined || own.identifiers.cage === cage) return true;
  const filter = { organization_id: own.organization_id, claims: `cage:${cage}`, _id: { $ne: own._id } };
  return (await entities.findOne(filter, { projection: { _id: 1 }, session })) === null;
}
