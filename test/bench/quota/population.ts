import { type Random, randomOf } from "../registry/random.ts";
import { DAY_MS, dayAt } from "./calendar.ts";

/** What is assumed about registrations. Sources are in `benchmark.ts`. */
export const assumptions = {
  /** A registration is valid for this many days after it was submitted. */
  validDays: 365,
  /** The extract lists registrations that expired at most this many days before its cut date. */
  expiredListedDays: 183,
  /** Share of registrations that are never renewed: with it, about 1 % of the registrations are lapsed on any day. */
  neverRenewed: 0.017,
  /** Share that is renewed 1 to 60 days before the expiration date, each day as likely as the others. */
  renewedBefore: 0.833,
  /** Share that is renewed on the expiration date. */
  renewedOnTheDay: 0.05,
  /** The others are renewed afterwards: one day, and this many more on average. */
  meanDaysLate: 5,
  /** Share of vendors that are excluded on the first day, and of these the share whose exclusion ends within 30 days. */
  excluded: 0.001,
  exclusionEnds: 0.15,
  /** Share of vendors whose exclusion begins within 30 days. */
  exclusionBegins: 0.000_15,
  /** Share of the vendors without a registration that have a UEI assigned to them. SAM.gov shows nothing of the others. */
  idOnly: 0.5,
  /** Share of the vendors without a registration that register within 30 days. */
  registers: 0.1,
} as const;

const VENDORS = 11;
const ABSENT = 12;
const SECONDS = 86_400;
const NEVER = 2 ** 31 - 1;
/** The days over which the changes above are spread. */
const CHANGING_DAYS = 30;

/** An exclusion of a vendor. Moments are milliseconds. */
export interface VendorExclusion {
  readonly from: number;
  /** When it ends or is lifted; Infinity: never. */
  readonly until: number;
  /** Day of its announced end; undefined: indefinite. */
  readonly lastDay: number | undefined;
}

/** SAM.gov's record of a vendor at a moment. */
export type VendorRecord =
  | { readonly kind: "registered"; readonly expirationDay: number }
  | { readonly kind: "id_only" }
  | { readonly kind: "none" };

export type Population = ReturnType<typeof createPopulation>;

/**
 * Creates the vendors of a simulated month: first `vendors` registrations, then `absent` vendors that the registry lacks
 * on the first day. The same options make the same vendors. Numbers are kept in typed arrays, 8 bytes for each vendor.
 */
export function createPopulation(options: { seed: number; vendors: number; absent: number; startDay: number }) {
  const { seed, vendors, absent, startDay } = options;
  const firstExpiration = new Int32Array(vendors);
  /** Seconds since 1970, of the one renewal of each registration that the month can see. */
  const renewedAt = new Int32Array(vendors);
  const registersAt = new Int32Array(absent);
  const exclusions = new Map<number, VendorExclusion>();

  for (let vendor = 0; vendor < vendors; vendor++) {
    const random = randomOf(seed, VENDORS, vendor);
    const expiration = startDay - assumptions.expiredListedDays + random.below(assumptions.validDays);
    firstExpiration[vendor] = expiration;
    renewedAt[vendor] = renewalOf(expiration, random);
    const exclusion = exclusionOf(startDay, random);
    if (exclusion) exclusions.set(vendor, exclusion);
  }
  for (let index = 0; index < absent; index++) {
    const random = randomOf(seed, ABSENT, index);
    const registers = random.chance(assumptions.registers);
    registersAt[index] = registers ? workingTime(startDay + random.below(CHANGING_DAYS), random) : NEVER;
  }

  return {
    seed,
    /** Number of registered vendors; those after them are absent from the registry on the first day. */
    vendors,
    /** Number of all vendors. */
    size: vendors + absent,
    /** Vendors with an exclusion, now or at another time. */
    exclusions: exclusions as ReadonlyMap<number, VendorExclusion>,
    recordAt(vendor: number, moment: number): VendorRecord {
      if (vendor < vendors) return { kind: "registered", expirationDay: this.expirationAt(vendor, moment) };
      const registers = registersAt[vendor - vendors]! * 1_000;
      if (moment >= registers) {
        return { kind: "registered", expirationDay: dayAt(registers) + assumptions.validDays };
      }
      return (vendor - vendors) % 100 < assumptions.idOnly * 100 ? { kind: "id_only" } : { kind: "none" };
    },
    /** Returns the expiration day of a registered vendor at a moment. */
    expirationAt(vendor: number, moment: number): number {
      const renewed = renewedAt[vendor]! * 1_000;
      return moment < renewed ? firstExpiration[vendor]! : dayAt(renewed) + assumptions.validDays;
    },
    isExcludedAt(vendor: number, moment: number): boolean {
      const exclusion = exclusions.get(vendor);
      return exclusion !== undefined && exclusion.from <= moment && moment < exclusion.until;
    },
  };
}

/** Returns when a registration is renewed, in seconds. */
function renewalOf(expiration: number, random: Random): number {
  const { neverRenewed, renewedBefore, renewedOnTheDay, meanDaysLate } = assumptions;
  const share = random.next();
  if (share < neverRenewed) return NEVER;
  if (share < neverRenewed + renewedBefore) return workingTime(expiration - 1 - random.below(60), random);
  if (share < neverRenewed + renewedBefore + renewedOnTheDay) return workingTime(expiration, random);
  return workingTime(expiration + 1 + Math.floor(-Math.log(1 - random.next()) * meanDaysLate), random);
}

function exclusionOf(startDay: number, random: Random): VendorExclusion | undefined {
  const share = random.next();
  if (share >= assumptions.excluded + assumptions.exclusionBegins) return undefined;
  const within = () => workingTime(startDay + random.below(CHANGING_DAYS), random) * 1_000;
  const begins = share >= assumptions.excluded;
  const from = begins ? within() : (startDay - 40 - random.below(1_000)) * DAY_MS;
  const ends = !begins && random.chance(assumptions.exclusionEnds);
  if (random.chance(0.5)) return { from, until: ends ? within() : Number.POSITIVE_INFINITY, lastDay: undefined };
  const lastDay = startDay + (ends ? random.below(CHANGING_DAYS) : CHANGING_DAYS + 60 + random.below(1_000));
  return { from, until: (lastDay + 1) * DAY_MS, lastDay };
}

/** Returns a time between 13:00 and 22:00 UTC, when offices in the United States are open, in seconds. */
function workingTime(day: number, random: Random): number {
  return day * SECONDS + 13 * 3_600 + random.below(9 * 3_600);
}
