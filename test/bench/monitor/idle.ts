import { newId } from "@vvs/ids";
import type { Row, RowBench } from "../benchmark.ts";
import { median } from "../load.ts";
import { round } from "../round.ts";
import { type LiveDomain, openLiveDomain } from "./live-domain.ts";
import { insertMonitors } from "./monitors.ts";

const FEW = 10_000;
const PER_ORGANIZATION = 1_000;
const ROUNDS = 20;
const TICKS = 200;
const HOUR_MS = 60 * 60 * 1_000;
/** So far in the future is the first due time that nothing becomes due during the measurement. */
const FIRST_DUE_MS = 6 * HOUR_MS;

/** One search for due monitors where nothing is due, in a small and in a large collection. */
export const idle: Row<"idle-monitors"> = {
  name: "idle",
  sizes: { "idle-monitors": { long: 1_000_000, short: 200_000 } },
  conditions: {
    idle_monitors: `${FEW} against --idle-monitors, ${PER_ORGANIZATION} in each organization, none due`,
    idle_rounds: `${ROUNDS} of ${TICKS} searches one after another, alternating; the median of the rounds' ratios`,
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

async function domainWith({ servers, prefix, log, onClose }: RowBench, count: number): Promise<LiveDomain> {
  log(`storing ${count} monitors ...`);
  const domain = await openLiveDomain({ mongodbUri: servers.mongodbUri, prefix: `${prefix}${count}_` });
  onClose(() => domain.close());
  const organizations = Array.from({ length: count / PER_ORGANIZATION }, () => newId("org"));
  const startsAt = Date.now() + FIRST_DUE_MS;
  await insertMonitors(domain.db, {
    count,
    organizationId: (index) => organizations[index % organizations.length]!,
    dueAt: (index) => new Date(startsAt + (index / count) * 24 * HOUR_MS),
  });
  // Indexes that are built afterwards cost less than indexes that grow.
  await domain.migrate();
  return domain;
}

/** Returns the mean duration of a search, in milliseconds. */
async function tickMs(domain: LiveDomain): Promise<number> {
  const startedAt = performance.now();
  for (let tick = 0; tick < TICKS; tick++) {
    const { claimed } = await domain.scheduler.claimDue();
    if (claimed > 0) throw new Error("a monitor was due");
  }
  return (performance.now() - startedAt) / TICKS;
}
