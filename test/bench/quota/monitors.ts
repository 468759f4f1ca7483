import { expiryRunAt as productExpiryRunAt } from "../../../services/monitor/src/model/next-run.ts";
import { spreadMs } from "../../../services/monitor/src/model/spread.ts";
import { DAY_MS, textOf } from "./calendar.ts";
import type { Population } from "./population.ts";

/** Length of a step of the simulated clock, in milliseconds. */
export const STEP_MS = 600_000;
const HOUR_MS = 3_600_000;
export const STEPS_A_DAY = DAY_MS / STEP_MS;
export const STEPS_AN_HOUR = HOUR_MS / STEP_MS;

export type Monitors = ReturnType<typeof createMonitors>;

/**
 * Creates daily monitors: one for each vendor that the registry lacks, and the others for the registered vendors in turn,
 * so that some have two. Their places in the day are those of the product's schedule.
 */
export function createMonitors(population: Population, count: number) {
  const absent = population.size - population.vendors;
  const steps = new Uint16Array(count);
  const starts = new Uint32Array(STEPS_A_DAY + 1);
  for (let monitor = 0; monitor < count; monitor++) {
    const step = Math.floor(spreadMs(idOf(monitor), DAY_MS) / STEP_MS);
    steps[monitor] = step;
    starts[step + 1]!++;
  }
  for (let step = 0; step < STEPS_A_DAY; step++) starts[step + 1]! += starts[step]!;
  const byStep = new Uint32Array(count);
  const next = starts.slice();
  for (let monitor = 0; monitor < count; monitor++) byStep[next[steps[monitor]!]!++] = monitor;

  return {
    count,
    vendorOf(monitor: number): number {
      return monitor < absent ? population.vendors + monitor : (monitor - absent) % population.vendors;
    },
    /** Returns the monitors of a vendor. */
    of(vendor: number): number[] {
      if (vendor >= population.vendors) return [vendor - population.vendors];
      const found: number[] = [];
      for (let monitor = absent + vendor; monitor < count; monitor += population.vendors) found.push(monitor);
      return found;
    },
    /** Returns the vendors that have a monitor. */
    vendors(): number[] {
      const registered = Math.min(population.vendors, count - absent);
      return Array.from({ length: absent + registered }, (_, index) => this.vendorOf(index));
    },
    /** Returns the monitors whose daily run is due in a step of the day. */
    dueIn(step: number): Uint32Array {
      return byStep.subarray(starts[step], starts[step + 1]);
    },
  };
}

/** Returns a monitor's id. */
export function idOf(monitor: number): string {
  return `mon_${String(monitor).padStart(8, "0")}`;
}

/** Returns the monitor of an id. */
export function monitorOf(id: string): number {
  return Number(id.slice(4));
}

/** Returns when a monitor runs on the day after its vendor's registration expired, by the product's rule. */
export function expiryRunAt(monitor: number, dayAfter: number): number {
  const answeredAt = new Date((dayAfter - 1) * DAY_MS);
  return productExpiryRunAt(idOf(monitor), textOf(dayAfter - 1), answeredAt)!.getTime();
}

/** Returns when a monitor runs after a file that was loaded at a moment changed its vendor: within ten minutes. */
export function fileRunAt(monitor: number, loadedAt: number): number {
  return loadedAt + spreadMs(idOf(monitor), HOUR_MS / 6);
}
