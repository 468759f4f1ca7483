/** Maximum numbers of attempts in flight. */
export interface PoolLimits {
  readonly slots: number;
  readonly slotsPerOrganization: number;
}

/** A number of slots, of which each organization can hold only a part. */
export interface Pool {
  hasRoom(organizationId: string): boolean;
  take(organizationId: string): void;
  free(organizationId: string): void;
  readonly slots: number;
  /** Slots in use. Can exceed `slots`, as an attempt that turns out to be slow takes one in any case. */
  readonly taken: number;
}

export function createPool({ slots, slotsPerOrganization }: PoolLimits): Pool {
  const byOrganization = new Map<string, number>();
  let taken = 0;
  return {
    slots,
    hasRoom: (organizationId) => taken < slots && (byOrganization.get(organizationId) ?? 0) < slotsPerOrganization,
    take(organizationId) {
      taken++;
      byOrganization.set(organizationId, (byOrganization.get(organizationId) ?? 0) + 1);
    },
    free(organizationId) {
      taken--;
      const left = byOrganization.get(organizationId)! - 1;
      if (left > 0) byOrganization.set(organizationId, left);
      else byOrganization.delete(organizationId);
    },
    get taken() {
      return taken;
    },
  };
}
