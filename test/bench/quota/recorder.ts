import { percentile, sorted } from "../load.ts";
import { DAY_MS } from "./calendar.ts";
import type { Monitors } from "./monitors.ts";
import type { Population } from "./population.ts";

/** Time in which a lapse must be reported, in milliseconds. */
const LAPSE_MS = 26 * 3_600_000;

export type Recorder = ReturnType<typeof createRecorder>;

/** Counts how runs end, and how soon lapses are reported. */
export function createRecorder(options: {
  population: Population;
  monitors: Monitors;
  startDay: number;
  days: number;
}) {
  const { monitors } = options;
  const lapses = lapsesOf(options);
  const reportedAfterMs = new Map<number, number>();
  const waitsMs: number[] = [];
  const counts = { runs: 0, without_call: 0, parked: 0, superseded: 0, errors: 0 };

  function ended(monitor: number, outcome: string, moment: number): void {
    if (outcome === "error") counts.errors++;
    if (outcome !== "expired") return;
    const lapsedAt = lapses.get(monitors.vendorOf(monitor));
    if (lapsedAt === undefined || moment < lapsedAt || reportedAfterMs.has(monitor)) return;
    reportedAfterMs.set(monitor, moment - lapsedAt);
  }

  return {
    /** A run was answered when it began. */
    answered(monitor: number, outcome: string, moment: number): void {
      counts.runs++;
      counts.without_call++;
      ended(monitor, outcome, moment);
    },
    /** A run was parked. */
    parked(): void {
      counts.runs++;
      counts.parked++;
    },
    /** A parked run was replaced by a newer one of its monitor. */
    superseded: () => void counts.superseded++,
    /** A parked run ended. `outcome`: pass, the reason of its fail, or error. */
    resumed(monitor: number, outcome: string, { parkedAt, moment }: { parkedAt: number; moment: number }): void {
      waitsMs.push(moment - parkedAt);
      ended(monitor, outcome, moment);
    },
    figures() {
      const due = [...lapses.keys()].flatMap((vendor) => monitors.of(vendor));
      const ages = due.map((monitor) => reportedAfterMs.get(monitor) ?? Number.POSITIVE_INFINITY);
      const hours = (values: readonly number[], percent: number) =>
        Math.round(percentile(sorted(values), percent) / 36_000) / 100;
      return {
        ...counts,
        error_percent: percentOf(counts.errors, counts.runs),
        lapses: due.length,
        lapses_seen_within_26_h_percent: percentOf(ages.filter((age) => age <= LAPSE_MS).length, due.length),
        lapse_p50_hours: hours(ages, 50),
        lapse_p99_hours: hours(ages, 99),
        parked_p50_hours: hours(waitsMs, 50),
        parked_p99_hours: hours(waitsMs, 99),
      };
    },
  };
}

/**
 * Returns the lapses that are measured, by vendor: those after the first day, in which everything is asked for the first
 * time, that are not healed by a renewal before they must be reported, and that must be reported before the end.
 */
function lapsesOf({
  population,
  startDay,
  days,
}: {
  population: Population;
  startDay: number;
  days: number;
}): Map<number, number> {
  const lapses = new Map<number, number>();
  for (let vendor = 0; vendor < population.vendors; vendor++) {
    const expiration = population.expirationAt(vendor, (startDay + 1) * DAY_MS);
    const lapsedAt = (expiration + 1) * DAY_MS;
    if (expiration < startDay || lapsedAt + LAPSE_MS > (startDay + days) * DAY_MS) continue;
    // An exclusion is reported instead.
    if (population.exclusions.has(vendor)) continue;
    if (population.expirationAt(vendor, lapsedAt + LAPSE_MS) === expiration) lapses.set(vendor, lapsedAt);
  }
  return lapses;
}

/** Returns a share in per cent with three digits; 100 for a share of nothing, 0 where only the part is nothing. */
function percentOf(part: number, whole: number): number {
  return whole === 0 ? 100 : Math.round((part / whole) * 100_000) / 1_000;
}
