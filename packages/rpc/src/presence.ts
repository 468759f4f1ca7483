/** An organization counts as present this long after its last call, in milliseconds. */
const PRESENT_MS = 1_000;

interface Seen {
  readonly organizationId: string;
  readonly atMs: number;
}

/** Knows whether several organizations call this process. Remembers the last call of the two that called last. */
export function createPresence(clock: () => number) {
  let last: Seen | undefined;
  let before: Seen | undefined;

  return {
    /** Records a call. */
    see(organizationId: string): void {
      if (last?.organizationId !== organizationId) before = last;
      last = { organizationId, atMs: clock() };
    },

    /** Whether another organization has called within the last second. */
    isBesideOthers(organizationId: string): boolean {
      const other = last?.organizationId === organizationId ? before : last;
      return other !== undefined && clock() - other.atMs < PRESENT_MS;
    },
  };
}
