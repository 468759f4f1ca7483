import { deterministicId } from "@vvs/ids";
import { addDays, registryDay, utcDay } from "@vvs/registration";
import { randomOf } from "../bench/registry/random.ts";
import { checkEvents, checkTruth, compare } from "./comparison.ts";
import { addMonitor, happen, happenToAll } from "./happenings.ts";
import { someTruth } from "./truth.ts";
import type { Found, History, Twins } from "./twins.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const FIRST_ROUND = Date.UTC(new Date().getUTCFullYear() + 1, 0, 5);
/** Time between the beginnings of two rounds, in milliseconds: longer than a round. */
const ROUND_MS = 40 * DAY_MS;
/** How long after a step the sweep runs, in milliseconds: by then it checks what was due up to the step. */
const SWEPT_AFTER_MS = 3 * MINUTE_MS;
/** How long a step may take, in minutes. */
const STEPS = [25, 60, 60, 180, 360, 720, 1_440];

/**
 * Runs a round of histories, which share the files and the product's rounds. It ends early where something is wrong. The same
 * seed gives the same round.
 */
export async function runRound(
  twins: Twins,
  { seed, count, steps }: { seed: number; count: number; steps: number },
): Promise<Found> {
  const { round, products, sweepers } = twins;
  await begin(twins, seed, count);
  await sweepers[0]!.sweepAll();
  const isFresh = round.random.chance(0.5);
  for (let index = 0; index < steps && round.found.wrong.length === 0; index++) await step(twins, isFresh);
  await checkEvents(twins);
  for (const { monitors } of products) await monitors.monitors.deleteMany({});
  return round.found;
}

async function begin(twins: Twins, seed: number, count: number): Promise<void> {
  const { world, clock, round, products, product, second } = twins;
  const [histories, compared, asked, swept, runs, twinRuns, events, twinEvents] = [count, 0, 0, 0, 0, 0, 0, 0];
  round.found = { histories, compared, asked, swept, runs, twinRuns, events, twinEvents, wrong: [] };
  round.random = randomOf(seed, 0, 0);
  round.chance = randomOf(seed, 2, 0);
  round.rules = [1];
  round.onChange = (of, change) => checkTruth(twins, of, change);
  round.histories = [];
  world.clear();
  for (const { suspended } of [...products.map(({ monitors }) => monitors), second]) suspended.clear();
  await product.monitors.sweepPositions.deleteMany({});
  twins.setTime(new Date(FIRST_ROUND + seed * ROUND_MS + round.random.below(DAY_MS)));
  for (let index = 0; index < count; index++) {
    const random = randomOf(seed, 1, index);
    const name = `${seed}/${index}`;
    const organization = (which: string) => deterministicId("org", new Date(0), [name, which]);
    const vendor = () => world.addVendor(someTruth(random, clock.at));
    round.histories.push({
      ...{ name, random, organizations: [organization("a"), organization("b")], vendors: [vendor(), vendor()] },
      ...{ monitors: [], identified: new Map() },
    });
  }
  world.load("registry", addDays(utcDay(clock.at), -round.random.below(20)));
  world.load("exclusions", utcDay(clock.at));
  for (const history of round.histories) await watch(twins, history);
}

/** Creates monitors of a vendor of both organizations, and of one of the first. */
async function watch(twins: Twins, history: History): Promise<void> {
  const { organizations, vendors } = history;
  for (const organizationId of organizations) {
    await addMonitor(twins, history, { organizationId, vendor: vendors[0] });
  }
  await addMonitor(twins, history, { organizationId: organizations[0], vendor: vendors[1] });
}

/** Lets things happen and time pass, and compares the products after the scheduled checks of that time. */
async function step(twins: Twins, isFresh: boolean): Promise<void> {
  const { clock, round, products, product, twin, second, world } = twins;
  const { random, histories } = round;
  // What was asked before is older than what happens now.
  twins.setTime(after(clock.at, SECOND_MS));
  await happenToAll(twins);
  for (const history of histories) await happen(twins, history);
  for (const { settle } of products) await settle();
  const since = clock.at;
  twins.setTime(awayFromMidnight(after(since, random.pick(STEPS) * MINUTE_MS)));
  world.publishAll();
  if (isFresh && random.chance(0.4)) for (const each of products) await each.refresh();
  twins.setTime(after(clock.at, SECOND_MS));
  await twins.runDue(twin);
  await twins.runDue(product, random.pick([product.monitors, second]));
  twins.setTime(after(clock.at, SWEPT_AFTER_MS));
  const swept = await product.monitors.positions.readAll();
  await twins.sweep();
  await compare(twins, { since, swept });
}

/** Returns a time that is not just before a midnight of UTC or of Washington: then the products would judge on different days. */
function awayFromMidnight(at: Date): Date {
  const later = after(at, 2 * SWEPT_AFTER_MS);
  return utcDay(at) === utcDay(later) && registryDay(at) === registryDay(later) ? at : later;
}

function after(date: Date, ms: number): Date {
  return new Date(date.getTime() + ms);
}
