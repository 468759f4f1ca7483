interface Seen {
  readonly organizationId: string;
  readonly atMs: number;
}

/**
 * Knows whether several organizations call this process. Remembers the last call of the two that called last. An organization
 * counts as present for `presentMs` after its last call.
 */
export function createPresence(clock: () => number, presentMs = 1_000) {
  let last: Seen | undefined;
  let before: Seen | undefined;

  return {
    /** Records a call. */
    see(organizationId: string): void {
      if (last?.organizationId !== organizationId) before = last;
      last = { organizationId, atMs: clock() };
    },

    /** Whether another organization is present. */
    isBesideOthers(organizationId: string): boolean {
      const other = last?.organizationId === organizationId ? before : last;
      return other !== undefined && clock() - other.atMs < presentMs;
    },
  };
}
