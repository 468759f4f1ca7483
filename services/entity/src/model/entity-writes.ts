import { isDuplicateKey } from "@vvs/mongo";
import { registryDay } from "@vvs/registration";
import type { ClientSession } from "mongodb";
import type { Collections, EntityDocument, FoundEntity, UnversionedEntity } from "./documents.ts";
import { type Author, nextVersion } from "./snapshots.ts";

/** An entity changed after it was read: it must be read again. */
export class StaleEntityError extends Error {
  override readonly name = "StaleEntityError";
}

/** Writes a new entity with its first snapshot, in the caller's transaction. */
export async function insertEntity(
  collections: Collections,
  session: ClientSession,
  options: { entity: UnversionedEntity; author: Author; now: Date },
): Promise<EntityDocument> {
  const { entity, snapshot } = nextVersion({ ...options, today: registryDay(options.now), previous: undefined });
  await collections.entities.insertOne(entity, { session });
  await collections.snapshots.insertOne(snapshot, { session });
  return entity;
}

/**
 * Writes a changed entity with its next snapshot, in the caller's transaction. Errors: StaleEntityError if the stored
 * entity is no longer `previous`, so that a chain of snapshots can't fork.
 */
export async function replaceEntity(
  collections: Collections,
  session: ClientSession,
  options: { previous: FoundEntity; entity: UnversionedEntity; author: Author; now: Date },
): Promise<EntityDocument> {
  const { previous } = options;
  const { entity, snapshot } = nextVersion({ ...options, today: registryDay(options.now) });
  const filter = asReadBefore(previous);
  const replaced = await collections.entities.replaceOne(filter, entity, { session });
  if (replaced.matchedCount === 0) throw new StaleEntityError("an entity changed after it was read");
  await collections.snapshots.insertOne(snapshot, { session });
  return entity;
}

/** Returns a filter that finds an entity only if nothing in it has changed, not even what makes no version. */
export function asReadBefore(read: Pick<EntityDocument, "_id" | "organization_id" | "version" | "revision">) {
  const { _id, organization_id, version, revision = { $exists: false } } = read;
  return { _id, organization_id, version, revision };
}

const MAX_ATTEMPTS = 8;

/** Repeats an attempt that reads and writes if another call has meanwhile changed the entity, or created the same one. */
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
