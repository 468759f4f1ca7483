import { afterEach, expect, test } from "@jest/globals";
import { startTestApplication } from "../../services/entity/src/testing/application.ts";
import { createLoads } from "../../services/entity/src/testing/loads.ts";
import { commandsDuring, monitored, total } from "../support/command-counts.ts";

// How many commands MongoDB gets for a load's batch of rows. They don't depend on the machine's speed.

const app = await startTestApplication({ uri: monitored(process.env.MONGODB_URI!) });
app.clock.now = new Date("2026-09-20T12:00:00Z");
const loads = createLoads(app);
afterEach(() => void app.client.removeAllListeners("commandStarted"));

const ueis = (first: string, count: number) =>
  Array.from({ length: count }, (_, index) => first + String(index).padStart(11, "0"));
const extract = (all: readonly string[], day: string) =>
  loads.load(
    all.map((uei) => ({ 1: uei, 4: "", 12: `LOADED ${uei} LLC` })),
    { day },
  );
const exclude = (all: readonly string[], day: string) =>
  loads.exclude(
    all.map((uei) => ({ uei })),
    day,
  );
/** Returns the number of commands of a load, without the renewals of its lock. */
async function cost(load: () => Promise<unknown>): Promise<number> {
  const { "update registry_locks": _renewals, ...counts } = await commandsDuring([app.client], load);
  return total(counts);
}

test("a batch of 250 entities of an extract costs at most 9 commands if they are new, else 2", async () => {
  const [first, added] = [ueis("A", 250), ueis("B", 500)];
  const once = await cost(() => extract(first, "06"));
  expect((await cost(() => extract([...first, ...added], "07"))) - once).toBeLessThanOrEqual(2 * 9 + 2);
  expect(await app.live.entities.countDocuments()).toBe(750);
  expect((await cost(() => extract([...first, ...added], "08"))) - once).toBeLessThanOrEqual(3 * 2 - 8);
});

test("exclusions write no field of an entity that an index has", async () => {
  await extract(ueis("E", 3), "09");
  const written = new Set<string>();
  app.client.on("commandStarted", ({ commandName, command }) => {
    const { update, updates = [] } = command as {
      update?: string;
      updates?: { u: { $set: object; $unset?: object } }[];
    };
    if (commandName !== "update" || update !== "entities") return;
    for (const { u } of updates) for (const name of Object.keys({ ...u.$set, ...u.$unset })) written.add(name);
  });
  await exclude(ueis("E", 3), "2026-09-04");
  await exclude(ueis("F", 1), "2026-09-05");
  expect(written).toContain("exclusions");
  const indexed = (await app.live.entities.indexes()).flatMap(({ key }) => Object.keys(key));
  expect([...written].filter((name) => indexed.some((key) => key === name || key.startsWith(`${name}.`)))).toEqual([]);
});

test("a batch of 1,000 rows of exclusions costs at most 7 commands if they are new, else 6", async () => {
  const [first, added] = [ueis("C", 1_000), ueis("D", 3_000)];
  const once = await cost(() => exclude(first, "2026-09-06"));
  expect((await cost(() => exclude([...first, ...added], "2026-09-07"))) - once).toBeLessThanOrEqual(3 * 7);
  expect(await app.live.exclusions.countDocuments({ last_seen: "2026-09-07" })).toBe(4_000);
  expect((await cost(() => exclude([...first, ...added], "2026-09-08"))) - once).toBeLessThanOrEqual(3 * 6);
});
