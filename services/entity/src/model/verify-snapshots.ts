import type { Collections } from "./documents.ts";
import { chainFault } from "./snapshots.ts";

/** Recomputes the chain of snapshots of each entity, or of one; calls `onFault` for each broken chain. */
export async function verifySnapshots(
  collections: Collections,
  entityId: string | undefined,
  onFault: (entityId: string, fault: string) => void,
): Promise<{ entities: number; faults: number }> {
  let entities = 0;
  let faults = 0;
  const chosen = collections.entities
    .find(entityId ? { _id: entityId } : {})
    .project<{ _id: string; version: number; last_hash: string }>({ version: 1, last_hash: 1 });
  for await (const entity of chosen) {
    const snapshots = await collections.snapshots.find({ entity_id: entity._id }).sort({ version: 1 }).toArray();
    const fault = chainFault(entity, snapshots);
    entities++;
    if (fault === undefined) continue;
    faults++;
    onFault(entity._id, fault);
  }
  return { entities, faults };
}
