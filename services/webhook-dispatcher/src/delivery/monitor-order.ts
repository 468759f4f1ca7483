/**
 * What this replica knows about the order of first attempts, which are made one after the other for each monitor: the
 * events that it has leased, in their order, and the monitors that have further events in the store.
 */
export interface MonitorOrder<T> {
  /** `leased`: all known events are leased here. `stored`: there are others in the store. `unknown`: ask the store. */
  state(monitorId: string): "leased" | "stored" | "unknown";
  /**
   * Adds a leased event behind the others. `head`: it may be attempted. `waits`: others are before it. `refused`: it was
   * not added, as the store may have earlier ones.
   */
  append(monitorId: string, member: T): "head" | "waits" | "refused";
  /** Adds a leased event that the store has as the monitor's first; the store may have others. */
  prepend(monitorId: string, member: T): void;
  /** Removes the first event, after its first attempt; returns the one that may be attempted now. */
  finishFirst(monitorId: string): T | undefined;
  /** Removes this event and those behind it, which must go back to the store; returns them in their order. */
  removeFrom(monitorId: string, member: T): T[];
  /** Notes that the monitor has events in the store. */
  noteStored(monitorId: string): void;
  /** Notes that every monitor may have events in the store, put there by other replicas. */
  noteAllStored(): void;
  /** Notes that the store answered it has none. No effect while one is leased, which may be newer than the answer. */
  noteNoneStored(monitorId: string): void;
  hasStored(monitorId: string): boolean;
  /** Number of the monitor's events that are leased here. */
  length(monitorId: string): number;
  /** All leased events that wait behind the first one of their monitor. */
  waiting(): Iterable<T>;
}

export function createMonitorOrder<T>(): MonitorOrder<T> {
  const leased = new Map<string, T[]>();
  const stored = new Set<string>();
  return {
    state(monitorId) {
      if (!leased.has(monitorId)) return "unknown";
      return stored.has(monitorId) ? "stored" : "leased";
    },
    append(monitorId, member) {
      if (stored.has(monitorId)) return "refused";
      const members = leased.get(monitorId);
      if (members) members.push(member);
      else leased.set(monitorId, [member]);
      return members ? "waits" : "head";
    },
    prepend(monitorId, member) {
      stored.add(monitorId);
      leased.set(monitorId, [member, ...(leased.get(monitorId) ?? [])]);
    },
    finishFirst(monitorId) {
      const members = leased.get(monitorId);
      members?.shift();
      if (members?.length === 0) leased.delete(monitorId);
      return members?.[0];
    },
    removeFrom(monitorId, member) {
      const members = leased.get(monitorId);
      const at = members?.indexOf(member) ?? -1;
      if (!members || at < 0) return [];
      const removed = members.splice(at);
      if (members.length === 0) leased.delete(monitorId);
      stored.add(monitorId);
      return removed;
    },
    noteStored: (monitorId) => void stored.add(monitorId),
    noteAllStored() {
      for (const monitorId of leased.keys()) stored.add(monitorId);
    },
    noteNoneStored(monitorId) {
      if (!leased.has(monitorId)) stored.delete(monitorId);
    },
    hasStored: (monitorId) => stored.has(monitorId),
    length: (monitorId) => leased.get(monitorId)?.length ?? 0,
    *waiting() {
      for (const members of leased.values()) if (members.length > 1) yield* members.slice(1);
    },
  };
}
