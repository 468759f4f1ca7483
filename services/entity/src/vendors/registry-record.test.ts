import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { FindCursor } from "mongodb";
import type { Collections } from "../model/documents.ts";
import { startTestApplication, type TestApplication } from "../testing/application.ts";
import { createLoads } from "../testing/loads.ts";
import { registryRecord } from "./registry-record.ts";

let app: TestApplication;
beforeAll(async () => {
  app = await startTestApplication(process.env.MONGODB_URI!);
});
afterAll(() => app.stop());

const uei = "ABCDEFGHJK51";

test("facts read before a load is done are never dated by its file", async () => {
  const loads = createLoads(app);
  await loads.load([{ 1: uei, 9: "20280101" }]);
  const disturbed = loadingAfterEntities(app.live, () => loads.load([{ 1: uei, 9: "20300101" }], { day: "13" }));
  const { record, registryCutDate } = await registryRecord(disturbed, { uei, cage: "" }, new Date());
  expect({ expires: record!.expirationDate, registryCutDate }).toEqual({
    expires: "2028-01-01",
    registryCutDate: "2026-09-06",
  });
});

/** Collections where a load runs after entities were read; loads asked for from then on are read once it is done. */
function loadingAfterEntities(collections: Collections, load: () => Promise<unknown>): Collections {
  let loaded: Promise<unknown> = Promise.resolve();
  const withFind = <C extends object>(collection: C, hook: (read: () => Promise<unknown>) => Promise<unknown>): C =>
    new Proxy(collection, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (name !== "find") return value;
        return (...given: unknown[]) => {
          const cursor = (value as (...given: unknown[]) => FindCursor).apply(target, given);
          const read = cursor.toArray.bind(cursor);
          cursor.toArray = () => hook(read) as ReturnType<typeof read>;
          return cursor;
        };
      },
    });
  return {
    ...collections,
    entities: withFind(collections.entities, (read) => {
      const found = read();
      loaded = found.then(load);
      return loaded.then(() => found);
    }),
    loads: withFind(collections.loads, (read) => loaded.then(read)),
  };
}
