import { createBatcher } from "@vvs/batching";
import type { IdentifierMap, IdentifierType } from "@vvs/identifiers";
import type { Binary, Document } from "mongodb";
import type { CarriedTinDocument, Collections, FoundEntity, RememberedDocument } from "./model/documents.ts";

/** Maximum number of documents that a look-up reads for one identifier, even if a file gives it to more. */
export const MAX_CARRIERS = 50;
/** Leaves out the keys of entities by which names and addresses are found, a third of most documents, and what they were before. */
export const WITHOUT_KEYS = {
  name_keys: 0,
  candidate_keys: 0,
  address_keys: 0,
  match_version: 0,
  row_before: 0,
  before_takeover: 0,
} as const;
/** Maximum number of calls that share a command. */
const MAX_TOGETHER = 16;

/** A remembered document that is an identifier, not the organization's own number. */
export type RememberedIdentifier = RememberedDocument & { readonly type: IdentifierType };

interface Key {
  readonly organizationId: string;
}

interface UeiKey extends Key {
  readonly uei: string;
}

interface TinKey extends Key {
  readonly tinHashes: readonly Binary[];
}

interface RememberedKey extends TinKey {
  readonly identifiers: IdentifierMap;
}

/**
 * Creates the reads of one environment by which identifiers name entities. Calls that come together, or while a command runs,
 * share a command, in which each organization gets only what it may see.
 */
export function createSharedReads(collections: Pick<Collections, "entities" | "remembered" | "carriedTins">) {
  const together = <K extends Key, R>(read: (keys: readonly K[]) => Promise<R[]>) =>
    createBatcher<K, R>({ run: read, maxSize: MAX_TOGETHER, atOnce: 1 });
  return {
    /** Returns the visible entities that carry a UEI, with what the organization remembers of them. */
    byUei: together((keys: readonly UeiKey[]) => findByUei(collections, keys)),
    /** Returns the ids of the organization's own entities that carry a TIN with one of these hashes. */
    tinCarriers: together((keys: readonly TinKey[]) => findTinCarriers(collections, keys)),
    /** Returns what the organization remembers under these identifiers; there is at least one. */
    remembered: together((keys: readonly RememberedKey[]) => findRemembered(collections, keys)),
  };
}

async function findByUei(
  { entities, remembered }: Pick<Collections, "entities" | "remembered">,
  keys: readonly UeiKey[],
) {
  const byOwner = Map.groupBy(keys, ({ organizationId }) => organizationId);
  const found = await entities
    .aggregate<FoundEntity & { along: RememberedDocument[] }>([
      // At most two for each: a UEI is unique in an organization, and in the registry.
      {
        $match: {
          $or: [...byOwner].map(([organizationId, own]) => ({
            "identifiers.uei": { $in: own.map(({ uei }) => uei) },
            organization_id: { $in: [null, organizationId] },
          })),
        },
      },
      {
        $lookup: {
          from: remembered.collectionName,
          localField: "_id",
          foreignField: "entity_id",
          pipeline: [{ $match: { organization_id: { $in: [...byOwner.keys()] } } }],
          as: "along",
        },
      },
      { $project: WITHOUT_KEYS },
    ])
    .toArray();
  return keys.map(({ organizationId, uei }) =>
    found
      .filter(({ organization_id: owner }) => owner === null || owner === organizationId)
      .filter(({ identifiers }) => identifiers.uei === uei)
      .map(({ along, ...entity }) => ({
        entity,
        remembered: along.filter(({ organization_id: owner }) => owner === organizationId),
      })),
  );
}

async function findTinCarriers({ carriedTins }: Pick<Collections, "carriedTins">, keys: readonly TinKey[]) {
  const hashesOf = (own: readonly TinKey[]) => own.flatMap(({ tinHashes }) => tinHashes);
  const byOwner = [...Map.groupBy(keys, ({ organizationId }) => organizationId)];
  const filter = { $or: byOwner.map(([organizationId, own]) => hashedAs(organizationId, hashesOf(own))) };
  const options = { projection: { organization_id: 1, hash: 1 } };
  type Carrier = Pick<CarriedTinDocument, "_id" | "organization_id" | "hash">;
  const found = await carriedTins.find<Carrier>(filter, options).toArray();
  return keys.map(({ organizationId, tinHashes }) =>
    found
      .filter(({ organization_id: owner }) => owner === organizationId)
      .filter(({ hash }) => tinHashes.some((one) => Buffer.from(one.value()).equals(hash.value())))
      .map(({ _id }) => _id),
  );
}

async function findRemembered({ remembered }: Pick<Collections, "remembered">, keys: readonly RememberedKey[]) {
  // A search for each, as each has a limit of its own.
  const [first, ...others] = keys.map(({ organizationId, identifiers, tinHashes }, askedAs): Document[] => {
    const ways: Document[] = (["uei", "cage", "duns"] as const)
      .filter((type) => identifiers[type])
      .map((type) => ({ organization_id: organizationId, type, value: identifiers[type] }));
    if (tinHashes.length > 0) ways.push({ type: "tin", ...hashedAs(organizationId, tinHashes) });
    return [{ $match: { $or: ways } }, { $limit: MAX_CARRIERS }, { $set: { askedAs } }];
  });
  const unions = others.map((pipeline) => ({ $unionWith: { coll: remembered.collectionName, pipeline } }));
  const found = await remembered
    .aggregate<RememberedIdentifier & { askedAs: number }>([...first!, ...unions])
    .toArray();
  return keys.map((_, index) =>
    found.filter(({ askedAs }) => askedAs === index).map(({ askedAs: _, ...document }) => document),
  );
}

const hashedAs = (organizationId: string, tinHashes: readonly Binary[]) => ({
  organization_id: organizationId,
  hash: { $in: [...tinHashes] },
});
