import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import type { FindCursor } from "mongodb";
import type { Collections } from "../model/documents.ts";
import { withdrawLoad } from "../registry-load/withdraw.ts";
import { startTestApplication, type TestApplication } from "../testing/application.ts";
import { createLoads, pausingTransaction } from "../testing/loads.ts";
import { registryRecord } from "./registry-record.ts";

let app: TestApplication;
let loads: ReturnType<typeof createLoads>;
beforeAll(async () => {
  app = await startTestApplication(process.env.MONGODB_URI!);
  loads = createLoads(app);
});
beforeEach(() => loads.clear());
afterAll(() => app.stop());

const uei = "ABCDEFGHJK51";
const query = { uei, cage: "" };

test("facts read before a load is done never get the date of its file", async () => {
  await loads.load([{ 1: uei, 9: "20280101" }]);
  let loaded: Promise<unknown> = Promise.resolve();
  const disturbed: Collections = {
    ...app.live,
    entities: withReadHook(app.live.entities, async (read) => {
      const found = await read();
      loaded = loads.load([{ 1: uei, 9: "20300101" }], { day: "13" });
      await loaded;
      return found;
    }),
    loads: withReadHook(app.live.loads, (read) => loaded.then(read)),
  };
  const { record, registryCutDate } = await registryRecord(disturbed, query, new Date());
  expect({ expires: record!.expirationDate, registryCutDate }).toEqual({
    expires: "2028-01-01",
    registryCutDate: "2026-09-06",
  });
});

test("rows that a withdrawal has just restored never get the date of the withdrawn file", async () => {
  const good = await loads.exclude([{ uei }, { cage: "9ZZZ9" }]);
  const bad = await loads.exclude([{ cage: "9ZZZ9" }], "2026-02-10");
  const paused = pausingTransaction(app, 2);
  let withdrawing: Promise<unknown> | undefined;
  const entities = withReadHook(app.live.entities, async (read) => {
    const options = { ...paused.given, loadId: bad.loadId, by: "jo@host", reason: "wrong", now: () => new Date() };
    withdrawing ??= withdrawLoad(options);
    await paused.beginning;
    return read();
  });
  const record = await registryRecord({ ...app.live, entities }, query, new Date());
  paused.begin();
  paused.commit();
  await withdrawing;
  expect(record).toMatchObject({ exclusions: [{ samNumber: `S4MR${uei}` }], endedExclusions: [] });
  expect(record).toMatchObject({ exclusionsLoad: good.loadId, withdrawnLoads: [bad.loadId] });
});

const read = (collections = app.live) => registryRecord(collections, query, app.clock.now);

test("exclusions that begin later are listed beside those in force, and those that have ended are not", async () => {
  await loads.exclude([{ uei, from: "2099-01-01" }, { uei }, { uei, from: "2019-01-01", until: "2020-01-31" }]);
  const { exclusions, endedExclusions } = await read();
  expect(exclusions!.map(({ activeDate }) => activeDate)).toEqual(["2020-01-01", "2099-01-01"]);
  expect(endedExclusions).toHaveLength(1);
});

/** Loads a file like `later`, but without the last write, which marks it as finished. */
async function loadUnfinished(load: () => Promise<{ loadId: string }>): Promise<string> {
  const { loadId } = await later(load);
  await app.live.loads.updateOne({ _id: loadId }, { $set: { state: "running" }, $unset: { finished_at: "" } });
  return loadId;
}

/** Runs a load at a later time than the earlier ones. */
function later<T>(load: () => Promise<T>): Promise<T> {
  app.clock.now = new Date(app.clock.now.getTime() + 60_000);
  return load();
}

async function withdraw(loadId: string) {
  const options = { client: app.client, collections: app.live, now: () => app.clock.now };
  await later(() => withdrawLoad({ ...options, loadId, by: "jo@host", reason: "wrong" }));
}

const finish = (loadId: string) =>
  app.live.loads.updateOne({ _id: loadId }, { $set: { state: "done", finished_at: app.clock.now } });

test.each([
  ["is running", async () => {}],
  ["is finished just after they were read", finish],
])("facts of a load that %s carry its id, so that a withdrawal also affects answers with them", async (_, then) => {
  const { loadId: good } = await loads.load([{ 1: uei, 9: "20280101" }]);
  const bad = await loadUnfinished(() => loads.load([{ 1: uei, 9: "20300101" }], { day: "13" }));
  const entities = withReadHook(app.live.entities, async (find) => {
    const found = await find();
    await then(bad);
    return found;
  });
  const record = await read({ ...app.live, entities });
  expect(record).toMatchObject({ registryLoad: bad, registryCutDate: "2026-09-06" });
  await withdraw(bad);
  await later(() => loads.load([{ 1: uei, 9: "20280101" }]));
  expect(await read()).toMatchObject({ registryLoad: good, withdrawnLoads: [record.registryLoad] });
});

test("exclusions that a running load added or changed carry its id", async () => {
  const { loadId: good } = await loads.exclude([{ uei: "ABCDEFGHJK52" }, { uei, until: "2099-01-01" }]);
  expect(await read()).toMatchObject({ exclusionsLoad: good });
  const bad = await loadUnfinished(() => loads.exclude([{ uei, until: "2020-01-01" }], "2026-01-11"));
  expect(await read()).toMatchObject({ exclusionsLoad: bad, exclusionsCutDate: "2026-01-10", exclusions: [] });
  await withdraw(bad);
  expect(await read()).toMatchObject({ exclusionsLoad: good, exclusions: [{}], withdrawnLoads: [bad] });
});

test("after a withdrawal an entity is unknown, not absent, until the previous file is completely loaded again", async () => {
  const again = (options = {}) => loads.load([{ 1: uei }], options);
  await again();
  const { loadId: bad } = await later(() => loads.load([{ 1: uei, 9: "20300101" }], { day: "13" }));
  await withdraw(bad);
  expect(await read()).toMatchObject({ record: undefined, registryCutDate: undefined });
  const reload = pausingTransaction(app, 1);
  const loading = later(() => again(reload.given));
  await reload.beginning;
  const during = await read();
  reload.begin();
  reload.commit();
  await loading;
  expect(during).toMatchObject({ record: undefined, registryCutDate: undefined });
  expect(await read()).toMatchObject({ record: { uei }, registryCutDate: "2026-09-06" });
});

test("after the withdrawal of a daily file, an entity that only it changed is unknown until a complete file is loaded", async () => {
  await loads.load([{ 1: uei }]);
  const daily = () => loads.load([{ 1: "ABCDEFGHJK52", 6: "2" }], { day: "13" });
  await later(daily);
  const { loadId: bad } = await later(() => loads.load([{ 1: uei, 6: "3", 9: "20300101" }], { day: "14" }));
  await withdraw(bad);
  await later(daily);
  expect(await read()).toMatchObject({ record: undefined, registryCutDate: undefined });
  await later(() => loads.load([{ 1: uei }], { day: "20" }));
  expect(await read()).toMatchObject({ record: { uei }, registryCutDate: "2026-09-20" });
});

test("rows that a second file of the same day lacks end once that file or a newer one is finished", async () => {
  await loads.exclude([{ uei }, { uei: "ABCDEFGHJK52" }]);
  const second = await loadUnfinished(() => loads.exclude([{ uei: "ABCDEFGHJK52" }]));
  expect(await read()).toMatchObject({ exclusions: [{}], endedExclusions: [] });
  await finish(second);
  expect(await read()).toMatchObject({ exclusions: [], endedExclusions: [{}] });
  await app.live.loads.updateOne({ _id: second }, { $set: { state: "running" }, $unset: { finished_at: "" } });
  await later(() => loads.exclude([{ uei: "ABCDEFGHJK52" }], "2026-01-11"));
  expect(await read()).toMatchObject({ exclusions: [], endedExclusions: [{}] });
});

/** Returns the collection with a hook around its reads. */
function withReadHook<C extends object>(collection: C, hook: (read: () => Promise<unknown>) => Promise<unknown>): C {
  return new Proxy(collection, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (name === "findOne")
        return (...given: unknown[]) => hook(async () => (value as typeof hook).apply(target, given as never));
      if (name !== "find") return value;
      return (...given: unknown[]) => {
        const cursor = (value as (...given: unknown[]) => FindCursor).apply(target, given);
        const read = cursor.toArray.bind(cursor);
        cursor.toArray = () => hook(read) as ReturnType<typeof read>;
        return cursor;
      };
    },
  });
}

test("the last day of an exclusion is over at midnight in Washington", async () => {
  await loads.exclude([{ uei, until: "2026-11-24" }]);
  const at = async (moment: string) => {
    const { exclusions, endedExclusions } = await registryRecord(app.live, query, new Date(moment));
    return { inForce: exclusions!.length, ended: endedExclusions!.length };
  };
  expect(await at("2026-11-25T04:59:59Z")).toEqual({ inForce: 1, ended: 0 });
  expect(await at("2026-11-25T05:00:00Z")).toEqual({ inForce: 0, ended: 1 });
});
