/** A round robin of two levels: between groups, then between the members of a group, however many each group has. */
export interface FairRing<T> {
  /** Adds a member at the end of its group; one that is in the ring already keeps its place. */
  add(member: T): void;
  /** Removes and returns the next member. */
  next(): T | undefined;
  readonly size: number;
}

export function createFairRing<T>(groupOf: (member: T) => string): FairRing<T> {
  // Maps and sets keep the order of insertion: the first element is the next one.
  const groups = new Map<string, Set<T>>();
  let size = 0;
  return {
    add(member) {
      const name = groupOf(member);
      const group = groups.get(name);
      if (group?.has(member)) return;
      size++;
      if (group) group.add(member);
      else groups.set(name, new Set([member]));
    },
    next() {
      for (const [name, group] of groups) {
        groups.delete(name);
        const [member] = group as Iterable<T> as Set<T>;
        group.delete(member!);
        if (group.size > 0) groups.set(name, group);
        size--;
        return member;
      }
      return undefined;
    },
    get size() {
      return size;
    },
  };
}
