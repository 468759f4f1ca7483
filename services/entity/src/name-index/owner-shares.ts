import type { IndexedEntity } from "./corpus.ts";

/**
 * Maximum number of names of one organization's own entities in an index, some 50 MB. Changed entities count again, because
 * their old names stay in memory until the next index. MongoDB's keys find the rest.
 */
const MAX_OWN_NAMES = 250_000;

export type OwnerShares = ReturnType<typeof createOwnerShares>;

/** Counts the names of each organization's own entities in an index, so that none fills the memory. */
export function createOwnerShares({ most = MAX_OWN_NAMES }: { most?: number | undefined }) {
  const counts = new Map<string, number>();
  let largest = 0;
  let total = 0;
  return {
    /** Counts an entity's names. Returns false if its owner's share is used up: the index must leave it out. */
    admits({ owner, names }: IndexedEntity): boolean {
      if (owner === null) return true;
      const count = (counts.get(owner) ?? 0) + names.length;
      counts.set(owner, count);
      if (count > most) return false;
      total += names.length;
      largest = Math.max(largest, count);
      return true;
    },
    /** Returns whether entities of an organization were left out. */
    isExceeded: (owner: string): boolean => (counts.get(owner) ?? 0) > most,
    /** Names of all organizations, and of the one with the most. */
    sizes: () => ({ total, largest }),
  };
}
