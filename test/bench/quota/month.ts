import { DAY_MS, dayOfText } from "./calendar.ts";
import type { Clock } from "./clock.ts";
import type { FileAnswers } from "./file-answers.ts";
import { loadsOn } from "./files.ts";
import type { RegistryFiles } from "./loaded-files.ts";
import { expiryRunAt, fileRunAt, type Monitors, STEP_MS, STEPS_A_DAY, STEPS_AN_HOUR } from "./monitors.ts";
import type { Population } from "./population.ts";
import type { Product } from "./product.ts";
import type { Recorder } from "./recorder.ts";
import type { Kept } from "./rule.ts";

/** Share of the quota that is reserved for direct callers, in per cent. */
export const DIRECT_PERCENT = 30;

export interface MonthOptions {
  readonly population: Population;
  readonly monitors: Monitors;
  readonly files: RegistryFiles;
  readonly answers: FileAnswers<Kept>;
  readonly product: Product;
  readonly recorder: Recorder;
  readonly clock: Clock;
  readonly startDay: number;
  readonly days: number;
  readonly quota: number;
  /** The share of the quota, in per cent, that direct callers use each day, at a steady rate. */
  readonly directPercent: number;
  /** Called after each hour with the moment of its end, in milliseconds. */
  readonly onHour: (moment: number) => void;
  /** Called after each day. */
  readonly onDay: (day: number) => void;
}

/**
 * Simulates the days, step by step: files are loaded, monitors' runs become due (by the schedule, on the day after an
 * expiration date, and after a file changed the vendor), direct callers call, and the product works off its queue.
 */
export async function simulateMonth(options: MonthOptions): Promise<void> {
  const { population, monitors, files, answers, product, recorder, clock, startDay, days } = options;
  const start = startDay * DAY_MS;
  /** The runs beside the schedule, by step since the start. */
  const extra = new Map<number, number[]>();
  const plan = (monitor: number, moment: number) => {
    const step = Math.ceil((moment - start) / STEP_MS);
    const planned = extra.get(step);
    if (planned) planned.push(monitor);
    else extra.set(step, [monitor]);
  };
  const directDaily = Math.floor((options.quota * options.directPercent) / 100);
  let directCalls = 0;
  files.load(start);
  let loads = Array.from({ length: days }, (_, index) => loadsOn(startDay + index)).flat();

  for (let step = 0; step < days * STEPS_A_DAY; step++) {
    const moment = start + step * STEP_MS;
    clock.set(moment);
    if (step % STEPS_A_DAY === 0) {
      const today = startDay + step / STEPS_A_DAY;
      for (const vendor of expiredOn(today - 1, options)) {
        for (const monitor of monitors.of(vendor)) plan(monitor, expiryRunAt(monitor, today));
      }
    }
    for (const at of loads.filter((each) => each <= moment)) {
      answers.clear();
      for (const vendor of files.load(at)) {
        for (const monitor of monitors.of(vendor)) plan(monitor, fileRunAt(monitor, at));
      }
    }
    loads = loads.filter((each) => each > moment);

    const asking: { monitor: number; vendor: number }[] = [];
    const run = async (monitor: number) => {
      const vendor = monitors.vendorOf(monitor);
      const found = product.isParked(monitor) ? "ask" : answers.outcomeOf(vendor, moment);
      const outcome = typeof found === "string" ? found : await found;
      if (outcome === "ask") asking.push({ monitor, vendor });
      else recorder.answered(monitor, outcome, moment);
    };
    for (const monitor of monitors.dueIn(step % STEPS_A_DAY)) await run(monitor);
    for (const monitor of extra.get(step) ?? []) await run(monitor);
    extra.delete(step);
    await product.request(asking);

    const directNow = Math.floor(((step + 1) / STEPS_A_DAY) * directDaily) - directCalls;
    await product.callDirectly(
      Array.from({ length: directNow }, (_, call) => (directCalls + call) % population.vendors),
    );
    directCalls += directNow;
    await product.work(moment + STEP_MS);
    for (const [vendor, answer] of await product.newAnswers()) answers.keep(vendor, answer);
    if ((step + 1) % STEPS_AN_HOUR === 0) {
      await product.plan();
      options.onHour(moment + STEP_MS);
    }
    if ((step + 1) % STEPS_A_DAY === 0) options.onDay(startDay + Math.floor(step / STEPS_A_DAY));
  }
}

/** Returns the vendors whose known registration expires on a day. */
function expiredOn(day: number, { population, files, answers }: MonthOptions): number[] {
  const expired: number[] = [];
  for (let vendor = 0; vendor < population.size; vendor++) {
    const registration = answers.keptOf(vendor)?.parts.registration;
    const known = registration?.expiration_date ? dayOfText(registration.expiration_date) : files.listed(vendor);
    if (known === day) expired.push(vendor);
  }
  return expired;
}
