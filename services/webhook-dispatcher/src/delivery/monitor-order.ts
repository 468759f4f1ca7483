export type MonitorOrder<T> = ReturnType<typeof createMonitorOrder<T>>;

/**
 * What this replica knows about the order of first attempts, which are made one after the other for each monitor: the
 * events that it has leased, in their order, and the monitors that have further events in the store.
 */
export function createMonitorOrder<T>() {
  const leased = new Map<string, T[]>();
  const stored = new Set<string>();
  return {
    /** `leased`: all known events are leased here. `stored`: there are others in the store. `unknown`: ask the store. */
    state(monitorId: string): "leased" | "stored" | "unknown" {
      if (!leased.has(monitorId)) return "unknown";
      return stored.has(monitorId) ? "stored" : "leased";
    },

    /**
     * Adds a leased event behind the others. `head`: it may be attempted. `waits`: others are before it. `refused`: it
     * was not added, as the store may have earlier ones.
     */
    append(monitorId: string, member: T): "head" | "waits" | "refused" {
      if (stored.has(monitorId)) return "refused";
      const members = leased.get(monitorId);
      if (members) members.push(member);
      else leased.set(monitorId, [member]);
      return members ? "waits" : "head";
    },

    /** Adds a leased event that the store has as the monitor's first; the store may have others. */
    prepend(monitorId: string, member: T): void {
      stored.add(monitorId);
      leased.set(monitorId, [member, ...(leased.get(monitorId) ?? [])]);
    },

    /** Removes an event after its first attempt; returns the one that may be attempted now, if it was the first. */
    finish(monitorId: string, member: T): T | undefined {
      const members = leased.get(monitorId);
      const at = members?.indexOf(member) ?? -1;
      if (!members || at < 0) return undefined;
      members.splice(at, 1);
      if (members.length === 0) leased.delete(monitorId);
      return at === 0 ? members[0] : undefined;
    },

    /** Removes this event and those behind it, which must go back to the store; returns them in their order. */
    removeFrom(monitorId: string, member: T): T[] {
      const members = leased.get(monitorId);
      const at = members?.indexOf(member) ?? -1;
      if (!members || at < 0) return [];
      const removed = members.splice(at);
      if (members.length === 0) leased.delete(monitorId);
      stored.add(monitorId);
      return removed;
    },

    /** Notes that the monitor has events in the store. */
    noteStored: (monitorId: string) => void stored.add(monitorId),

    /** Notes that every monitor may have events in the store, put there by other replicas. */
    noteAllStored(): void {
      for (const monitorId of leased.keys()) stored.add(monitorId);
    },

    /** Notes that the store returned no events of it. No effect while one is leased, which may be newer than the answer. */
    noteNoneStored(monitorId: string): void {
      if (!leased.has(monitorId)) stored.delete(monitorId);
    },

    hasStored: (monitorId: string) => stored.has(monitorId),

    /** Returns the number of the monitor's events that are leased here. */
    length: (monitorId: string) => leased.get(monitorId)?.length ?? 0,

    /** Returns all leased events that wait behind the first one of their monitor. */
    waiting: (): T[] => [...leased.values()].flatMap((members) => members.slice(1)),
  };
}
