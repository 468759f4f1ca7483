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

test("facts that were read before a load is done never get the date of its file", async () => {
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

/** Returns the collection with a hook in its reads. */
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
