/** A round robin of two levels: between groups, then between the members of a group, however many each group has. */
export function createFairRing<T>(groupOf: (member: T) => string) {
  // Maps and sets keep the order of insertion: the first element is the next one.
  const groups = new Map<string, Set<T>>();
  return {
    /** Adds a member at the end of its group; one that is in the ring already keeps its place. */
    add(member: T): void {
      const name = groupOf(member);
      const group = groups.get(name);
      if (group) group.add(member);
      else groups.set(name, new Set([member]));
    },
    /** Removes and returns the next member. */
    next(): T | undefined {
      for (const [name, group] of groups) {
        groups.delete(name);
        const [member] = group as Iterable<T> as Set<T>;
        group.delete(member!);
        if (group.size > 0) groups.set(name, group);
        return member;
      }
      return undefined;
    },
  };
}
