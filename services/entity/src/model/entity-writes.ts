import { isDuplicateKey } from "@vvs/mongo";
import type { ClientSession } from "mongodb";
import type { Collections, EntityDocument } from "./documents.ts";
import { type Author, nextVersion, type UnversionedEntity } from "./snapshots.ts";

/** The entity changed since it was read: read it again and decide anew. */
export class StaleEntityError extends Error {
  override readonly name = "StaleEntityError";
}

/** Writes a new entity with its first snapshot, in the caller's transaction. */
export async function insertEntity(
  collections: Collections,
  session: ClientSession,
  options: { entity: UnversionedEntity; author: Author; now: Date },
): Promise<EntityDocument> {
  const { entity, snapshot } = nextVersion({ ...options, previous: undefined });
  await collections.entities.insertOne(entity, { session });
  await collections.snapshots.insertOne(snapshot, { session });
  return entity;
}

/**
 * Writes a changed entity with its next snapshot, in the caller's transaction. Errors: StaleEntityError where the
 * stored one is no longer `previous`, so that a chain of snapshots can't fork.
 */
export async function replaceEntity(
  collections: Collections,
  session: ClientSession,
  options: { previous: EntityDocument; entity: UnversionedEntity; author: Author; now: Date },
): Promise<EntityDocument> {
  const { previous } = options;
  const { entity, snapshot } = nextVersion(options);
  const filter = asReadBefore(previous);
  const replaced = await collections.entities.replaceOne(filter, entity, { session });
  if (replaced.matchedCount === 0) throw new StaleEntityError("the entity changed meanwhile");
  await collections.snapshots.insertOne(snapshot, { session });
  return entity;
}

/** Finds an entity as long as nothing of it changed, what makes no version included. */
export function asReadBefore({
  _id,
  organization_id,
  version,
  revision,
}: Pick<EntityDocument, "_id" | "organization_id" | "version" | "revision">) {
  return { _id, organization_id, version, revision: revision ?? { $exists: false } };
}

const MAX_ATTEMPTS = 8;

/**
 * Reads, decides and writes again where another call came between: one that changed the same entity, or made one with
 * the same identifiers first.
 */
export async function untilUndisturbed<T>(attempt: () => Promise<T>): Promise<T> {
  for (let left = MAX_ATTEMPTS; ; left--) {
    try {
      return await attempt();
    } catch (error) {
      const isDisturbed = error instanceof StaleEntityError || isDuplicateKey(error);
      if (!isDisturbed || left <= 1) throw error;
    }
  }
}
