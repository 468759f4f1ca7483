import { newId } from "@vvs/ids";
import { shardOf } from "@vvs/outbox";
import { createSweep } from "../../../services/monitor/src/sweep/sweep.ts";
import type { Row, RowBench } from "../benchmark.ts";
import { median } from "../load.ts";
import { round } from "../round.ts";
import { openLiveDomain } from "./live-domain.ts";
import { insertMonitors } from "./monitors.ts";

const FEW = 1_000;
const PER_ORGANIZATION = 1_000;
const ROUNDS = 20;
const TICKS = 200;
const DAY_MS = 24 * 60 * 60 * 1_000;

/** One search for due monitors, and one for due checks, where all monitors stand and nothing is due, in a small and in a large collection. */
export const idle: Row<"idle-monitors"> = {
  name: "idle",
  sizes: { "idle-monitors": { long: 1_000_000, short: 200_000 } },
  conditions: {
    idle_monitors: `${FEW} against --idle-monitors, ${PER_ORGANIZATION} in each organization; all stand, and their checks were made`,
    idle_rounds: `${ROUNDS} of ${TICKS} rounds of the scheduler and of the sweep, one after another, alternating; the median of the rounds' ratios`,
  },
  targets: { idle_ratio_many_to_few: { at_most: 1.2 }, idle_ratio_few_to_many: { at_most: 1.25 } },
  async measure(bench, { "idle-monitors": monitors }) {
    const few = await domainWith(bench, FEW);
    const many = await domainWith(bench, monitors);
    await tickMs(few);
    await tickMs(many);
    const rounds: { few: number; many: number }[] = [];
    for (let index = 0; index < ROUNDS; index++) rounds.push({ few: await tickMs(few), many: await tickMs(many) });
    return {
      idle_few_ms: round(median(rounds.map((each) => each.few)), 3),
      idle_many_ms: round(median(rounds.map((each) => each.many)), 3),
      idle_ratio_many_to_few: round(median(rounds.map((each) => each.many / each.few)), 2),
      idle_ratio_few_to_many: round(median(rounds.map((each) => each.few / each.many)), 2),
    };
  },
};

type Tick = () => Promise<void>;

/** Stores monitors. Returns a round of the scheduler and of the sweep. */
async function domainWith({ servers, prefix, log, onClose }: RowBench, count: number): Promise<Tick> {
  log(`storing ${count} monitors ...`);
  const domain = await openLiveDomain({ mongodbUri: servers.mongodbUri, prefix: `${prefix}${count}_` });
  onClose(() => domain.close());
  const organizations = Array.from({ length: count / PER_ORGANIZATION }, () => newId("org"));
  const now = domain.now();
  // What is stored of their schedules is of the day in which they began to stand.
  await insertMonitors(domain.db, {
    count,
    organizationId: (index) => organizations[index % organizations.length]!,
    dueAt: (index) => new Date(now.getTime() - (index / count) * DAY_MS),
    areStanding: true,
  });
  // Indexes that are built afterwards cost less than indexes that grow.
  await domain.migrate();
  const { standing, positions } = domain;
  await positions.start("daily", now);
  const sweep = createSweep({
    ...{ standing, positions, isSuspended: () => false, runTimeoutMs: 600_000, now: () => now },
    judge: () => Promise.reject(new Error("a check was due")),
    metrics: { checked: () => undefined },
    leases: { held: () => [shardOf("sweep")] },
  });
  return async () => {
    const { claimed } = await domain.scheduler.claimDue();
    if (claimed > 0) throw new Error("a monitor was due");
    await sweep();
  };
}

/** Returns the mean duration of a round, in milliseconds. */
async function tickMs(tick: Tick): Promise<number> {
  const startedAt = performance.now();
  for (let index = 0; index < TICKS; index++) await tick();
  return (performance.now() - startedAt) / TICKS;
}
