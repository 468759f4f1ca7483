import { describe, expect, test } from "@jest/globals";
import { verifySnapshots } from "../model/verify-snapshots.ts";
import { startTestApplication } from "../testing/application.ts";
import { createLoads, pausingTransaction } from "../testing/loads.ts";

const app = await startTestApplication();
const loads = createLoads(app);

const uei = "ABCDEFGHJK51";
const other = "ABCDEFGHJK52";
const third = "ABCDEFGHJK53";

/** A load, the newer one that takes over while it is paused, and the loads before them. */
const loadsOf = {
  "a registry extract": {
    before: () => loads.load([{ 1: uei }, { 1: other }]),
    older: (options: Parameters<typeof loads.load>[1]) =>
      loads.load([{ 1: uei, 9: "20280101" }, { 1: "x" }], { day: "13", ...options }),
    newer: () => loads.load([{ 1: uei, 9: "20300101" }, { 1: other }, { 1: third }], { day: "20" }),
  },
  "an exclusions file": {
    before: async () => {
      await loads.load([{ 1: uei }, { 1: other }, { 1: third }]);
      await loads.exclude([{ uei }, { uei: other, until: "2030-01-01" }]);
    },
    older: (options: Parameters<typeof loads.exclude>[2]) =>
      loads.exclude([{ uei: other }, { uei: "x" }, { uei: third }], "2026-02-10", options),
    newer: () => loads.exclude([{ uei }, { uei: other, until: "2031-01-01" }], "2026-02-20"),
  },
};

const everything = async () => [
  await loads.everything(),
  await app.live.loads.find().toArray(),
  await app.live.quarantine.find().toArray(),
];

describe.each(Object.entries(loadsOf))("a load of %s that another took over", (_, { before, older, newer }) => {
  test.each(["before it begins", "before it commits"])(
    "commits nothing, if any of its transactions stalled %s",
    async (point) => {
      await loads.clear();
      await before();
      const undisturbed = pausingTransaction(app, Number.POSITIVE_INFINITY);
      await older(undisturbed.given);
      expect(undisturbed.transactions()).toBeGreaterThan(0);
      for (let number = 0; number < undisturbed.transactions(); number++) {
        await loads.clear();
        await before();
        const paused = pausingTransaction(app, number);
        const outcome = older(paused.given).catch((error: unknown) => error);
        await paused.beginning;
        await loads.expireLock();
        if (point === "before it commits") {
          paused.begin();
          await paused.committing;
        }
        await newer();
        const after = await everything();
        paused.begin();
        paused.commit();
        expect(String(await outcome)).toMatch(/another load took over.*[Ll]oad the file again/);
        expect(await everything()).toEqual(after);
        expect(await app.live.loadLocks.countDocuments()).toBe(0);
      }
      expect(await verifySnapshots(app.live, undefined, () => undefined)).toMatchObject({ faults: 0 });
    },
  );
});

test("every write of a load is in a transaction, so that the load holds the lock when it commits", async () => {
  const unguarded: string[] = [];
  const collections = Object.fromEntries(
    Object.entries(app.live).map(([name, collection]) => [
      name,
      new Proxy(collection, {
        get(target: object, method: string) {
          const value: unknown = Reflect.get(target, method, target);
          if (typeof value !== "function") return value;
          return (...given: unknown[]) => {
            const options = given.at(-1) as { session?: unknown } | undefined;
            const isWrite = /^(insert|update|replace|delete|bulkWrite|findOneAnd)/.test(method);
            if (isWrite && name !== "loadLocks" && !options?.session) unguarded.push(`${name}.${method}`);
            return value.apply(target, given);
          };
        },
      }),
    ]),
  ) as unknown as typeof app.live;
  for (const { before, older } of Object.values(loadsOf)) {
    await loads.clear();
    await before();
    await older({ collections });
  }
  expect(unguarded).toEqual([]);
});
