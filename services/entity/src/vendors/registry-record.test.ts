import { beforeEach, expect, test } from "@jest/globals";
import { type CommandStartedEvent, MongoClient } from "mongodb";
import { collectionsOf } from "../model/documents.ts";
import { startTestApplication } from "../testing/application.ts";
import { createLoads, pausingTransaction } from "../testing/loads.ts";
import { type RegistryQuery, registryRecords } from "./registry-record.ts";

const app = await startTestApplication();
const loads = createLoads(app);
beforeEach(() => loads.clear());

const uei = "ABCDEFGHJK51";
const query = { uei, cage: "" };

const read = async (asked: RegistryQuery = query) => (await registryRecords(app.live, [asked], app.clock.now))[0]!;

/** Reads records until the work has ended, and once more. */
async function readDuring(work: Promise<unknown>) {
  const records: Awaited<ReturnType<typeof read>>[] = [];
  let isOver = false;
  const ended = work.finally(() => {
    isOver = true;
  });
  while (!isOver) records.push(await read());
  await ended;
  return [...records, await read()];
}

test("facts never get the date of a load that was finished after they were read", async () => {
  const { loadId: before } = await loads.load([{ 1: uei, 9: "20280101" }]);
  const loading = later(() => loads.load([{ 1: uei, 9: "20300101" }], { day: "13" }));
  const records = await readDuring(loading);
  const { loadId: after } = await loading;
  const seen = records.map((each) => [each.record!.expirationDate, each.registryLoad, each.registryCutDate].join());
  const possible = [
    `2028-01-01,${before},2026-09-06`,
    `2030-01-01,${after},2026-09-06`,
    `2030-01-01,${after},2026-09-13`,
  ];
  expect(possible).toEqual(expect.arrayContaining(seen));
  expect(seen.at(-1)).toBe(possible[2]);
});

test("rows that a withdrawal restores never get the date of the withdrawn file", async () => {
  const good = await loads.exclude([{ uei }, { cage: "9ZZZ9" }]);
  const bad = await later(() => loads.exclude([{ cage: "9ZZZ9" }], "2026-02-10"));
  expect(await read()).toMatchObject({ exclusions: [], exclusionsLoad: bad.loadId });
  const before = await read();
  const records = await readDuring(withdraw(bad.loadId));
  const restored = { exclusions: [{ samNumber: `S4MR${uei}` }], endedExclusions: [], exclusionsLoad: good.loadId };
  for (const record of records.filter(({ exclusionsLoad }) => exclusionsLoad !== before.exclusionsLoad)) {
    expect(record).toMatchObject({ ...restored, withdrawnLoads: [bad.loadId] });
  }
  expect(records.at(-1)).toMatchObject(restored);
});

test("records of many vendors are read by one command at one moment, and exclusions by CAGEs that were not asked for by one more", async () => {
  await loads.load([{ 1: uei }, { 1: "ABCDEFGHJK52" }, { 1: "ABCDEFGHJK53" }]);
  await loads.exclude([{ uei: "ABCDEFGHJK52" }]);
  const uri = `${process.env.MONGODB_URI!}${process.env.MONGODB_URI!.includes("?") ? "&" : "/?"}monitorCommands=true`;
  const client = new MongoClient(uri);
  const commands: CommandStartedEvent["command"][] = [];
  client.on("commandStarted", ({ command }) => {
    if (command.aggregate || command.find) commands.push(command);
  });
  const collections = collectionsOf(client.db(app.databases.live.databaseName));
  const queries = ["ABCDEFGHJK53", "ABCDEFGHJK52", "ABCDEFGHJK59"].map((each) => ({ uei: each, cage: "1ABC2" }));
  const records = await registryRecords(collections, queries, app.clock.now);
  const once = { aggregate: "registry_loads", readConcern: { level: "snapshot" } };
  expect(commands).toMatchObject([once]);
  expect(records.map(({ record, exclusions }) => [record?.uei, exclusions!.length])).toEqual([
    ["ABCDEFGHJK53", 0],
    ["ABCDEFGHJK52", 1],
    [undefined, 0],
  ]);
  await app.live.entities.updateOne({ "identifiers.uei": uei }, { $set: { former_cages: ["9ZZZ9"] } });
  await later(() => loads.exclude([{ uei: "ABCDEFGHJK52" }, { cage: "9ZZZ9" }], "2026-02-10"));
  const again = [...queries, { uei, cage: "1ABC2" }];
  const [first, second, , record] = await registryRecords(collections, again, app.clock.now);
  await client.close();
  expect([first, second, record].map(({ exclusions } = {}) => exclusions!.length)).toEqual([0, 1, 1]);
  const further = { find: "exclusions", filter: { $or: [expect.anything(), { cage: { $in: ["1ABC2", "9ZZZ9"] } }] } };
  expect(commands).toMatchObject([once, once, { ...further, readConcern: { atClusterTime: expect.anything() } }]);
});

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

const withdraw = (loadId: string) => later(() => loads.withdraw(loadId));

const finish = (loadId: string) =>
  app.live.loads.updateOne({ _id: loadId }, { $set: { state: "done", finished_at: app.clock.now } });

/** Makes entities as a version wrote them that kept no earlier row. */
const forgetEarlierRows = () => app.live.entities.updateMany({}, { $unset: { row_before: "" } });

test("facts of a load that is running carry its id, so that a withdrawal also affects answers with them", async () => {
  const { loadId: good } = await loads.load([{ 1: uei, 9: "20280101" }]);
  const bad = await loadUnfinished(() => loads.load([{ 1: uei, 9: "20300101" }], { day: "13" }));
  const record = await read();
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

test("after a withdrawal an entity without an earlier row is unknown, not absent, until the previous file is completely loaded again", async () => {
  const again = (options = {}) => loads.load([{ 1: uei }], options);
  await again();
  const { loadId: bad } = await later(() => loads.load([{ 1: uei, 9: "20300101" }], { day: "13" }));
  await forgetEarlierRows();
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

test("after the withdrawal of a daily file, an entity without an earlier row is unknown until a complete file is loaded", async () => {
  await loads.load([{ 1: uei }]);
  const daily = () => loads.load([{ 1: "ABCDEFGHJK52", 6: "2" }], { day: "13" });
  await later(daily);
  const { loadId: bad } = await later(() => loads.load([{ 1: uei, 6: "3", 9: "20300101" }], { day: "14" }));
  await forgetEarlierRows();
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

test("what the newest file has ended stays ended while that file is loaded again", async () => {
  await loads.exclude([{ uei }, { cage: "9ZZZ9" }, { name: "KESTREL MARINE" }]);
  const newest = (options = {}) => loads.exclude([{ cage: "9ZZZ9" }], "2026-02-10", options);
  await later(() => newest());
  const reload = pausingTransaction(app, 1);
  const loading = later(() => newest(reload.given));
  await reload.beginning;
  const during = await read({ ...query, names: ["Kestrel Marine"] });
  reload.begin();
  reload.commit();
  await loading;
  expect(during).toMatchObject({ exclusions: [], endedExclusions: [{}], sameNames: [] });
});

test("the last day of an exclusion is over at midnight in Washington", async () => {
  await loads.exclude([{ uei, until: "2026-11-24" }]);
  const at = async (moment: string) => {
    const [record] = await registryRecords(app.live, [query], new Date(moment));
    const { exclusions, endedExclusions } = record!;
    return { inForce: exclusions!.length, ended: endedExclusions!.length };
  };
  expect(await at("2026-11-25T04:59:59Z")).toEqual({ inForce: 1, ended: 0 });
  expect(await at("2026-11-25T05:00:00Z")).toEqual({ inForce: 0, ended: 1 });
});
