import type { Collections, EntityDocument } from "./documents.ts";
import { chainFault } from "./snapshots.ts";

/** The end of an entity's chain, as the entity names it. */
type ChainEnd = Pick<EntityDocument, "_id" | "version" | "last_hash">;
const chainEnd = { version: 1, last_hash: 1 } as const;

/** Recomputes the chain of snapshots of each entity, or of one; calls `onFault` for each broken chain. */
export async function verifySnapshots(
  collections: Collections,
  entityId: string | undefined,
  onFault: (entityId: string, fault: string) => void,
): Promise<{ entities: number; faults: number }> {
  let entities = 0;
  let faults = 0;
  const chosen = collections.entities.find(entityId ? { _id: entityId } : {}).project<ChainEnd>(chainEnd);
  for await (const entity of chosen) {
    const fault = await settledFault(collections, entity);
    entities++;
    if (fault === undefined) continue;
    faults++;
    onFault(entity._id, fault);
  }
  return { entities, faults };
}

/** Returns the fault of a chain. An entity that has changed since it was read is read again: its chain has grown. */
async function settledFault(collections: Collections, read: ChainEnd): Promise<string | undefined> {
  const snapshots = await collections.snapshots.find({ entity_id: read._id }).sort({ version: 1 }).toArray();
  const fault = chainFault(read, snapshots);
  if (fault === undefined) return undefined;
  const current = await collections.entities.findOne<ChainEnd>({ _id: read._id }, { projection: chainEnd });
  return current && current.version !== read.version ? settledFault(collections, current) : fault;
}
