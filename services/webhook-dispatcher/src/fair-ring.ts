/** Takes turns: between groups first, then between the members of a group, however many each group has. */
export interface FairRing<T> {
  /** At the end of its group's turns. A member that has a turn already keeps that one. */
  add(member: T): void;
  /** Whose turn it is; they have no further one until they are added again. */
  next(): T | undefined;
  readonly size: number;
}

export function createFairRing<T>(groupOf: (member: T) => string): FairRing<T> {
  // Maps and sets keep the order in which they were filled: the first is whose turn it is.
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
