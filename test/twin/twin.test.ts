import { expect, test } from "@jest/globals";
import { runRound } from "./histories.ts";
import { startTwins } from "./twins.ts";

// Scheduled checks that are made in bulk find what real runs would have found. Random histories run in a product that sweeps,
// and in a naive twin in which each scheduled check is a real run. The histories below are few, but fail if all checks in bulk are
// judged the same, and if the sweep does not end the standing of a monitor that differs: both were tried.

/** Number of histories, and the seed of the first round of them. */
const HISTORIES = Number(process.env.TWIN_HISTORIES ?? 12);
const SEED = Number(process.env.TWIN_SEED ?? 3);
/** Histories that run at the same time. */
const TOGETHER = Math.min(20, HISTORIES);
const STEPS = 25;

const twins = await startTwins();

const seeds = Array.from({ length: Math.ceil(HISTORIES / TOGETHER) }, (_, index) => SEED + index);

test.each(seeds)(
  "after each scheduled check the baseline is the twin's, and each event was true and came once (seed %d)",
  async (seed) => {
    const { wrong, ...found } = await runRound(twins, { seed, count: TOGETHER, steps: STEPS });
    if (HISTORIES > TOGETHER) console.log(JSON.stringify({ seed, ...found }));
    expect(wrong).toEqual([]);
    const { compared, asked, swept } = found;
    expect([compared > 100, swept > 50, asked <= compared / 20]).toEqual([true, true, true]);
  },
  300_000,
);
