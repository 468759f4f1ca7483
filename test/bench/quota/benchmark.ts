import { randomBytes } from "node:crypto";
import { createLogger } from "@vvs/logging";
import { connectMongo } from "@vvs/mongo";
import type { MongoClient } from "mongodb";
import { type Benchmark, type Figures, type Row, type RowBench, UsageError } from "../benchmark.ts";
import { round } from "../round.ts";
import { DAY_MS, dayOfText, textOf } from "./calendar.ts";
import { createClock } from "./clock.ts";
import { createFileAnswers } from "./file-answers.ts";
import { loadedAt } from "./files.ts";
import { createFreshness } from "./freshness.ts";
import { leastCalls, leastQuestions } from "./least-calls.ts";
import { createRegistryFiles } from "./loaded-files.ts";
import { createMonitors } from "./monitors.ts";
import { DIRECT_PERCENT, simulateMonth } from "./month.ts";
import { assumptions, createPopulation, type Population } from "./population.ts";
import { createProduct } from "./product.ts";
import { createRecorder } from "./recorder.ts";
import { createRule, likenessOf } from "./rule.ts";
import { createSamGov, type Outage } from "./sam-gov.ts";

const SEED = 1;
/** Two days before an extract is cut, five weeks after the one before it. */
const START = dayOfText("2030-10-04");
/** All of the quota that is not kept for runs, in per cent: direct callers use it in the rows of fresh data. */
const UNRESERVED_PERCENT = 50;
/** Share of the monitors whose vendor the registry lacks. */
const ABSENT = 0.005;
/** Number of vendors from which calls are mostly full. */
const FULL_SIZE = 500_000;

type Sizes = Readonly<Record<"vendors" | "monitors" | "days", number>>;
const sizes = {
  vendors: { long: 900_000, short: 18_000 },
  monitors: { long: 1_000_000, short: 20_000 },
  days: { long: 30, short: 5 },
};

const month: Row<keyof Sizes | "quota"> = {
  name: "month",
  sizes: { ...sizes, quota: { long: 10_000, short: 10_000 } },
  targets: ({ vendors }) => ({
    calls_a_day_largest: { at_most: 1_500 },
    ...(vendors >= FULL_SIZE && { calls_to_least_possible: { at_most: 1.3 } }),
    error_percent: { at_most: 0.1 },
    lapses_seen_within_26_h_percent: { at_least: 99 },
    direct_left_percent: { at_least: DIRECT_PERCENT },
    direct_refused: { at_most: 0 },
  }),
  measure,
};

const smallQuota: Row<keyof Sizes> = {
  name: "small-quota",
  sizes,
  targets: {
    error_percent_at_1000: { at_most: 0.1 },
    direct_left_percent_at_1000: { at_least: DIRECT_PERCENT },
    direct_refused_at_1000: { at_most: 0 },
  },
  async measure(bench, chosen) {
    const figures = await measure(bench, { ...chosen, quota: 1_000 });
    return Object.fromEntries(Object.entries(figures).map(([name, value]) => [`${name}_at_1000`, value]));
  },
};

const fresh: Row<keyof Sizes | "quota"> = {
  name: "fresh",
  conditions: { fresh_direct_calls: `${UNRESERVED_PERCENT} % of the quota` },
  sizes: {
    vendors: { long: 2_000, short: 2_000 },
    monitors: { long: 2_000, short: 2_000 },
    days: { long: 30, short: 4 },
    quota: { long: 1_000, short: 1_000 },
  },
  targets: { fresh_share: { at_least: 0.95 }, direct_refused_beside_fresh: { at_most: 0 } },
  measure: measureFresh,
};

/** With more vendors than the quota can keep fresh: which ages it leaves them with. */
const scarce: Row<keyof Sizes | "quota"> = {
  name: "fresh-scarce",
  sizes: { ...sizes, days: { long: 30, short: 4 }, quota: { long: 10_000, short: 200 } },
  targets: {},
  async measure(bench, chosen) {
    const figures = await measureFresh(bench, chosen);
    return Object.fromEntries(Object.entries(figures).map(([name, value]) => [`${name}_when_scarce`, value]));
  },
};

/**
 * A month of daily monitors on SAM.gov's quota: the product's own rules and queue, with its real database, on a simulated
 * clock, against a simulated SAM.gov that counts calls. The month begins with an empty queue and an extract that is 33 days
 * old, as old as one gets, so that on the first day everything is asked that the files do not know. The targets are for the
 * days after it.
 *
 * Known, from SAM.gov's documents and its extract of 2026-09-06: the extract has 895,932 rows. It is cut on the first Sunday
 * of a month, and lists registrations that are active or expired within the last six months. A registration is valid for 365
 * days from its submission. A file of exclusions comes every day. A call returns ten rows, and asks for 100 UEIs at most.
 *
 * Assumed: registrations end evenly over the year. 1 % have lapsed: in the extract it is 10 %, but customers monitor vendors
 * that they work with. 83 % are renewed 1 to 60 days before their expiration date, as SAM.gov reminds of it 60, 30 and 15
 * days before; 5 % on that day, 10 % some days later, 1.7 % never. 0.5 % of the monitored vendors have no registration, half
 * of them an id. 0.1 % of the vendors are excluded; some exclusions begin and end each day. Files are loaded on the day of
 * their date: extracts at 14:00 UTC, as they are published after 7 AM in Washington, exclusions at 10:00.
 *
 * The rows of fresh data also note which vendors the monitors watch. Direct callers use half of the quota there, so that
 * only what is kept for runs is left.
 */
export const quotaBenchmark: Benchmark = {
  name: "quota",
  about: "a simulated month of a million daily monitors on SAM.gov's quota, against the least possible number of calls",
  conditions: {
    baseline: "each vendor that the files do not know: daily for 30 days, then weekly, 100 to 11 calls",
    small_quota: "1,000 calls a day",
    first_day: textOf(START),
    lapsed: "1 %",
    without_registration: `${ABSENT * 100} % of the monitors`,
    direct_calls: `${DIRECT_PERCENT} % of the quota, evenly over each day`,
    fresh: "the shares of vendors with data of an age are means over each hour after the first day",
    outages: "3 h of 503 and 1 h of silence",
    processes: "the queue and a simulated SAM.gov in this process, MongoDB",
  },
  rows: [month, smallQuota, fresh, scarce],
};

async function measure(bench: RowBench, chosen: Sizes & { quota: number }): Promise<Figures> {
  const { population, monitors, client } = await begin(bench, chosen);
  const { days, quota } = chosen;
  bench.log("Counting the least possible number of calls ...");
  const least = leastQuestions({
    population,
    vendors: monitors.vendors(),
    startDay: START,
    days,
    extractCutOn: (day) => loadedAt(day * DAY_MS).extractCut,
  }).map(leastCalls);
  const about = (day: number) => ` (least ${least[day - START]})`;
  const simulated = { ...chosen, population, monitors, client, directPercent: DIRECT_PERCENT, isWatched: false };
  const { callsByDay, state, recorded, seconds } = await simulate({ ...simulated, log: bench.log, about });
  const later = callsByDay.slice(1).map(({ runs }) => runs);
  const most = Math.max(...callsByDay.map(({ runs }) => runs));
  return {
    calls_on_the_first_day: callsByDay[0]!.runs,
    calls_a_day_largest: Math.max(...later),
    calls_a_day_mean: Math.round(sum(later) / later.length),
    least_possible_a_day_mean: Math.round(sum(least.slice(1)) / later.length),
    calls_to_least_possible: Math.round((sum(later) / sum(least.slice(1))) * 1_000) / 1_000,
    calls_refused_by_sam_gov: sum(callsByDay.map(({ refused }) => refused)),
    calls_in_outages: sum(callsByDay.map(({ unanswered }) => unanswered)),
    direct_left_percent: Math.round(((quota - most) / quota) * 1_000) / 10,
    direct_refused: state.refusedDirectly,
    runs_waiting_at_the_end: state.waiting,
    ...recorded,
    seconds,
    expire_within_the_days_percent: round((days / assumptions.validDays) * 100, 1),
  };
}

/** Measures how fresh the vendors' data is after the first day, hour by hour. */
async function measureFresh(bench: RowBench, chosen: Sizes & { quota: number }): Promise<Figures> {
  const begun = await begin(bench, chosen);
  const simulated = { ...chosen, ...begun, directPercent: UNRESERVED_PERCENT, isWatched: true, log: bench.log };
  const { callsByDay, state, recorded, freshness, seconds } = await simulate(simulated);
  return {
    ...freshness,
    calls_with_fresh_a_day_mean: Math.round(sum(callsByDay.map(({ runs }) => runs)) / callsByDay.length),
    direct_refused_beside_fresh: state.refusedDirectly,
    error_percent_beside_fresh: recorded.error_percent!,
    fresh_seconds: seconds,
  };
}

async function begin({ servers, onClose }: RowBench, { vendors, monitors: count, days }: Sizes) {
  // The renewals of the simulated vendors cover no longer time.
  if (days < 4 || days > 40) throw new UsageError("--days must be a whole number from 4 to 40.");
  const logger = createLogger({ service: "bench", level: "silent" });
  const stopping = new AbortController().signal;
  const client = await connectMongo({ uri: servers.mongodbUri, service: "bench", logger, stopping });
  onClose(() => client.close());
  const population = createPopulation({ seed: SEED, vendors, absent: Math.round(count * ABSENT), startDay: START });
  return { client, population, monitors: createMonitors(population, count) };
}

interface Simulation {
  readonly population: Population;
  readonly monitors: ReturnType<typeof createMonitors>;
  readonly days: number;
  readonly quota: number;
  /** The share of the quota, in per cent, that direct callers use. */
  readonly directPercent: number;
  /** Whether the data of the monitors' vendors is kept fresh. */
  readonly isWatched: boolean;
  readonly client: MongoClient;
  readonly log: (line: string) => void;
  /** Returns what is logged of a day beside its calls. */
  readonly about?: (day: number) => string;
}

async function simulate(run: Simulation) {
  const { population, monitors, days, quota, client, log, about } = run;
  log(`A quota of ${quota} calls a day:`);
  const began = performance.now();
  const secondsSince = () => Math.round((performance.now() - began) / 1_000);
  const clock = createClock(START * DAY_MS);
  const db = client.db(`b${randomBytes(4).toString("hex")}_verification_live`);
  const logger = createLogger({ service: "bench", level: "silent" });
  const samGov = createSamGov({ population, quota, outages: outagesOf(days), now: clock.now });
  const files = createRegistryFiles(population);
  const recorder = createRecorder({ population, monitors, startDay: START, days });
  try {
    const rule = createRule({ population, files, now: clock.now });
    const answers = createFileAnswers({ population, files, decide: rule.decide, likenessOf });
    const freshness = createFreshness({ monitors, files, answers });
    const product = await createProduct({ client, db, population, rule, samGov, quota, clock, recorder, logger });
    if (run.isWatched) await product.watch(monitors);
    await simulateMonth({
      ...{ population, monitors, files, answers, product, recorder, clock, startDay: START, days, quota },
      directPercent: run.directPercent,
      onHour(moment) {
        if (run.isWatched && moment > (START + 1) * DAY_MS) freshness.sample(moment);
      },
      onDay(day) {
        const { runs } = samGov.callsOn(day);
        log(
          `${textOf(day)}: ${runs} calls${about?.(day) ?? ""}, ${product.state().waiting} runs wait, ${secondsSince()} s`,
        );
      },
    });
    await product.close();
    return {
      callsByDay: Array.from({ length: days }, (_, index) => samGov.callsOn(START + index)),
      state: product.state(),
      recorded: recorder.figures() as Record<string, number>,
      freshness: freshness.figures(),
      seconds: secondsSince(),
    };
  } finally {
    await db.dropDatabase();
  }
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** SAM.gov answers 503 for three hours at night, and nothing for an hour by day, once in the month. */
function outagesOf(days: number): Outage[] {
  const [first, second] = [START + Math.floor(days / 3), START + Math.floor((days * 2) / 3)];
  const hour = 3_600_000;
  return [
    { from: first * DAY_MS + hour, until: first * DAY_MS + 4 * hour, kind: "http_503" },
    { from: second * DAY_MS + 15 * hour, until: second * DAY_MS + 16 * hour, kind: "silent" },
  ];
}
