import { expect, test } from "@jest/globals";
import { atEnd, eventually, silentLogger as logger } from "@vvs/testing";
import { runDuePoller } from "./due-poller.ts";
import { createDueSignals } from "./due-signals.ts";

type Options = Parameters<typeof runDuePoller>[0];

/** Starts a poller of an empty store. Returns its signals, and how often it has begun a round and read what is due. */
function startPoller() {
  const stopping = new AbortController();
  const counts = { rounds: 0, reads: 0 };
  const signals = createDueSignals();
  const poller = runDuePoller({
    signals: {
      ...signals,
      nextHeld(limit: number) {
        counts.rounds++;
        return signals.nextHeld(limit);
      },
    },
    store: {
      async due() {
        counts.reads++;
        return [];
      },
    } as Partial<Options["store"]> as Options["store"],
    secrets: { isUnavailable: () => false },
    engine: { queued: () => 0 } as Partial<Options["engine"]> as Options["engine"],
    stopping: stopping.signal,
    logger,
    now: () => new Date(),
  } as Partial<Options> as Options);
  atEnd(async () => {
    stopping.abort();
    await poller.ended();
  });
  const roundsLater = async (count: number) => {
    const until = counts.rounds + count;
    await eventually(() => counts.rounds >= until);
  };
  return { signals, counts, roundsLater };
}

test("what is due is read in one of four rounds, but in each while a retry is near, and immediately when something wakes the poller", async () => {
  const { signals, counts, roundsLater } = startPoller();
  await roundsLater(8);
  expect(counts.reads).toBeLessThanOrEqual(4);
  const before = counts.reads;
  signals.wake();
  await roundsLater(1);
  expect(counts.reads).toBe(before + 1);
  signals.noteRetry(new Date(Date.now() + 5_000), new Date());
  const near = counts.reads;
  await roundsLater(5);
  expect(counts.reads).toBeGreaterThanOrEqual(near + 4);
});
