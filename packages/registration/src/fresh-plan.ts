const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** The quotas that SAM.gov gives, apart from 10 calls, in HTTP calls per UTC day. */
const QUOTAS = [1_000, 10_000];
/** How many registered vendors one call asks about at least where questions are full: a hundred cost 11 or 12 calls. */
const VENDORS_PER_CALL = 100 / 12;

/** Share of a day's quota that is kept for direct calls, and for later runs and fresh data, in per cent. */
export const RESERVE_PERCENT = { direct: 30, runs: 50 } as const;
/** How often a vendor is asked about so that its data is never older than a day, in milliseconds. */
export const ASKED_DAILY_MS = DAY_MS - HOUR_MS;

/** Vendors whose data is kept fresh. */
interface KeptFresh {
  readonly vendors: number;
  /** How often each is asked about, in milliseconds. */
  readonly everyMs: number;
}

/**
 * Plans how many vendors have fresh data with each of SAM.gov's quotas and the configured one, `quota`, smallest first: the first
 * vendors before the next, with what is kept for later runs, without the calls that these need. `dailyForAll` is the smallest quota
 * with which all of them have.
 */
export function planFreshness(
  vendors: readonly KeptFresh[],
  { callsForRuns, quota }: { callsForRuns: number; quota?: number | undefined },
) {
  const known = [...new Set(quota === undefined ? QUOTAS : [...QUOTAS, quota])].toSorted((a, b) => a - b);
  const quotas = known.map((daily) => {
    let left = Math.max(0, Math.floor((daily * RESERVE_PERCENT.runs) / 100) - callsForRuns);
    const kept = vendors.map(({ vendors: wanted, everyMs }) => {
      const affordable = Math.min(wanted, Math.floor(left / callsToKeepFresh({ vendors: 1, everyMs })));
      left -= callsToKeepFresh({ vendors: affordable, everyMs });
      return affordable;
    });
    return { daily, fresh: sum(kept) };
  });
  const callsForAll = callsForRuns + Math.ceil(sum(vendors.map(callsToKeepFresh)));
  return { quotas, dailyForAll: Math.ceil((callsForAll * 100) / RESERVE_PERCENT.runs) };
}

/** Returns the calls a day that keep the data of vendors fresh, if calls are full. */
export function callsToKeepFresh({ vendors, everyMs }: KeptFresh): number {
  return (vendors * DAY_MS) / everyMs / VENDORS_PER_CALL;
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
