/**
 * First attempts of one monitor's events are made one after the other. Here is what this replica knows of that: which
 * events it has in hand, and of which monitors it knows others to be in the store, waiting.
 */
export interface Lanes<T> {
  /** In hand alone, or also (or only) in the store; unknown where nothing is in hand: the store knows then. */
  state(monitorId: string): "in hand" | "elsewhere" | "unknown";
  /** In hand from now on, at the end. `head`: it may be attempted. `refused`: earlier ones are in the store. */
  enter(monitorId: string, member: T): "head" | "waits" | "refused";
  /** In hand from now on: the store says that it is the first. Others may be there. */
  enterFirst(monitorId: string, member: T): void;
  /** The first attempt of the first one has ended; returns the one that may be attempted now. */
  leave(monitorId: string): T | undefined;
  /** Takes this one, and those behind it, out of hand; they must go back to the store. Returns them in their order. */
  takeOut(monitorId: string, member: T): T[];
  /** Some are in the store. */
  noteElsewhere(monitorId: string): void;
  /** Other replicas may have put some there, of any monitor. */
  noteAllElsewhere(): void;
  /** None is in the store, which was asked. */
  noteNoneElsewhere(monitorId: string): void;
  isElsewhere(monitorId: string): boolean;
  length(monitorId: string): number;
  /** Those that wait behind the first. */
  waiting(): Iterable<T>;
}

export function createLanes<T>(): Lanes<T> {
  const inHand = new Map<string, T[]>();
  const elsewhere = new Set<string>();
  return {
    state(monitorId) {
      if (!inHand.has(monitorId)) return "unknown";
      return elsewhere.has(monitorId) ? "elsewhere" : "in hand";
    },
    enter(monitorId, member) {
      if (elsewhere.has(monitorId)) return "refused";
      const lane = inHand.get(monitorId);
      if (lane) lane.push(member);
      else inHand.set(monitorId, [member]);
      return lane ? "waits" : "head";
    },
    enterFirst(monitorId, member) {
      elsewhere.add(monitorId);
      inHand.set(monitorId, [member, ...(inHand.get(monitorId) ?? [])]);
    },
    leave(monitorId) {
      const lane = inHand.get(monitorId);
      lane?.shift();
      if (lane?.length === 0) inHand.delete(monitorId);
      return lane?.[0];
    },
    takeOut(monitorId, member) {
      const lane = inHand.get(monitorId);
      const at = lane?.indexOf(member) ?? -1;
      if (!lane || at < 0) return [];
      const out = lane.splice(at);
      if (lane.length === 0) inHand.delete(monitorId);
      elsewhere.add(monitorId);
      return out;
    },
    noteElsewhere: (monitorId) => void elsewhere.add(monitorId),
    noteAllElsewhere() {
      for (const monitorId of inHand.keys()) elsewhere.add(monitorId);
    },
    noteNoneElsewhere: (monitorId) => void elsewhere.delete(monitorId),
    isElsewhere: (monitorId) => elsewhere.has(monitorId),
    length: (monitorId) => inHand.get(monitorId)?.length ?? 0,
    *waiting() {
      for (const lane of inHand.values()) if (lane.length > 1) yield* lane.slice(1);
    },
  };
}
