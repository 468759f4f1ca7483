import { writeFile } from "node:fs/promises";
import { beforeEach, expect, test } from "@jest/globals";
import { callerFor, registryRecordOf, startTestApplication } from "../testing/application.ts";
import { createLoads, killedAt, pausingTransaction } from "../testing/loads.ts";
import { loadExtract } from "./load-extract.ts";
import { type ExclusionOf, extractRowText, extractText, writeText } from "./testing/registry-files.ts";

const app = await startTestApplication();
const loads = createLoads(app);
beforeEach(() => loads.clear());

const caller = callerFor("org_rows");
const uei = "ABCDEFGHJK51";
const PRODUCTS = "Section 889. The entity is not itself excluded.";
const statusOf = async (by = uei) =>
  (await app.gateway.lookUp({ caller, identifiers: { uei: by } })).entity!.samGov!.registrationStatus;
const record = () => registryRecordOf(app.verification, { uei });

test("a row that limits only products debars nobody, and is returned with its comment, after graver ones", async () => {
  await loads.load([{ 1: uei, 116: "D" }]);
  const products = { uei, comment: PRODUCTS };
  await loads.exclude([products], "2026-09-07");
  expect(await statusOf()).toBe("active");
  expect((await record()).exclusions).toMatchObject([{ effect: "product", comment: PRODUCTS, withoutUei: false }]);
  await loads.exclude([products, { uei, agency: "EPA", comment: "This Facility Only." }], "2026-09-08");
  expect(await statusOf()).toBe("debarred");
  expect((await record()).exclusions).toMatchObject([{ effect: "facility" }, { effect: "product" }]);
});

test("a row that can't be read debars until a readable file says otherwise", async () => {
  await loads.load([{ 1: uei }]);
  const others = [{ cage: "1ZZZ1" }, { cage: "1ZZZ2" }];
  const report = await loads.exclude([...others, { uei, until: "99/99/2020" }], "2026-09-07");
  expect(report.counts).toMatchObject({ rows: 2, quarantined: 1, new: 3 });
  expect(await statusOf()).toBe("debarred");
  expect((await record()).exclusions).toMatchObject([{ effect: "bar", terminationDate: "indefinite" }]);
  await loads.exclude([...others, { uei, until: "2026-09-07" }], "2026-09-08");
  expect(await statusOf()).toBe("active");
});

test("rows that went missing when a row of nobody known became unreadable stand as long as it is there", async () => {
  await loads.load([{ 1: uei }]);
  const [one, other] = [{ cage: "1ZZZ1" }, { cage: "1ZZZ2" }];
  const unreadable = { uei: "12", until: "soon" };
  await loads.exclude([{ uei }, one, other], "2026-09-07");
  const counted = async (rows: ExclusionOf[], day: string) => {
    const { counts } = await loads.exclude(rows, day);
    return { held: counts.held, gone: counts.gone, status: await statusOf() };
  };
  const excluded = { held: 1, gone: 0, status: "debarred" };
  expect(await counted([one, other, unreadable], "2026-09-08")).toEqual(excluded);
  expect((await record()).exclusions).toMatchObject([{ lastSeen: "2026-09-07", effect: "bar" }]);
  // The other one stood beside it, so that it is not the other one's.
  expect(await counted([one, unreadable], "2026-09-09")).toEqual({ ...excluded, gone: 1 });
  expect(await counted([one, unreadable], "2026-09-10")).toEqual(excluded);
  expect(await counted([one, { ...unreadable, until: "later" }], "2026-09-11")).toEqual(excluded);
  expect(await counted([one], "2026-09-12")).toEqual({ held: 0, gone: 1, status: "active" });
});

test.each<[string, ExclusionOf, string]>([
  ["the vendor's SAM number", { uei: "12", samNumber: `S4MR${uei}` }, "debarred"],
  ["the vendor's SAM number and a CAGE", { uei: "12", cage: "1ZZZ9", samNumber: `S4MR${uei}` }, "debarred"],
  ["no SAM number", { uei: "12", samNumber: "" }, "debarred"],
  ["a SAM number that no row had", { uei: "12", samNumber: "NEW" }, "debarred"],
  ["the SAM number of another row", { uei: "12", samNumber: "S4MR1ZZZ2" }, "active"],
  ["the UEI of another vendor", { uei: "ABCDEFGHJK52", until: "soon" }, "active"],
])("an unreadable row with %s stands for the rows that it may be", async (_, unreadable, status) => {
  await loads.load([{ 1: uei }]);
  const others = [{ cage: "1ZZZ1" }, { cage: "1ZZZ2" }];
  await loads.exclude([{ uei }, ...others], "2026-09-07");
  await loads.exclude([...others, unreadable], "2026-09-08");
  expect(await statusOf()).toBe(status);
});

test("a load that ends no row because of an unreadable one can be withdrawn, and killed and continued", async () => {
  await loads.load([{ 1: uei }]);
  const others = [{ cage: "1ZZZ1" }, { cage: "1ZZZ2" }];
  const unreadable = { uei: "12" };
  await loads.exclude([{ uei }, ...others], "2026-09-07");
  const before = await app.live.exclusions.find().toArray();
  const goOn = await killedAt(app, 2, (given) => loads.exclude([...others, unreadable], "2026-09-08", given));
  await loads.expireLock();
  const { loadId, counts } = await loads.exclude([...others, unreadable], "2026-09-08");
  await goOn();
  expect([counts.held, await statusOf()]).toEqual([1, "debarred"]);
  await loads.withdraw(loadId);
  expect(await app.live.exclusions.find().toArray()).toEqual(before);
  expect(await statusOf()).toBe("debarred");
});

test("a row that was stored before its effect was known excludes", async () => {
  await loads.load([{ 1: uei }]);
  await loads.exclude([{ uei }], "2026-09-07");
  await app.live.exclusions.updateMany({}, { $unset: { effect: "", comment: "" } });
  expect((await record()).exclusions).toMatchObject([{ effect: "", comment: "" }]);
  expect(await statusOf()).toBe("debarred");
});

test("equal rows are one with a count, however far apart, and the gravest of those that differ decides", async () => {
  await loads.load([{ 1: uei }]);
  const others = Array.from({ length: 1_100 }, (_, index) => ({ cage: `2${1_000 + index}` }));
  const products = { uei, comment: PRODUCTS, until: "2026-12-01" };
  const bar = { uei, until: "2027-01-01" };
  const file = [products, bar, ...others, products];
  expect((await loads.exclude(file, "2026-09-07")).counts).toMatchObject({ new: 1_101, repeated: 1, unchanged: 1 });
  const row = { count: 3, effect: "bar", comment: PRODUCTS, termination_date: "2027-01-01" };
  expect(await app.live.exclusions.findOne({ uei })).toMatchObject(row);
  expect(await statusOf()).toBe("debarred");
  const before = await loads.everything();
  await loads.exclude(file, "2026-09-07");
  expect(await loads.everything()).toBe(before);
  await loads.exclude([...others, products], "2026-09-08");
  expect(await statusOf()).toBe("active");
  expect(await app.live.exclusions.findOne({ uei, count: { $exists: true } })).toBeNull();
});

test("a file with rows that can't be read is refused, the first one too, and with few it is loaded", async () => {
  const sound = Array.from({ length: 99 }, (_, index) => ({ cage: `2${1_000 + index}` }));
  const bad = { cage: "1ZZZ1", until: "soon" };
  await expect(loads.exclude([...sound, bad, { until: "soon" }])).rejects.toThrow(
    /2 of the 101 rows of .* \(line 101: /,
  );
  expect(await app.live.exclusions.countDocuments()).toBe(0);
  expect((await loads.exclude([...sound, bad])).counts).toMatchObject({ rows: 99, quarantined: 1, new: 100 });
  const rows = Array.from({ length: 5 }, (_, index) => ({ 1: `ABCDEFGHJK6${index}` }));
  await expect(loads.load([...rows, { 1: "x" }, { 1: "y" }])).rejects.toThrow(/2 of the 7 rows/);
});

test("an extract with far fewer rows than the newest complete one is refused, unless that is accepted", async () => {
  const rows = Array.from({ length: 1_000 }, (_, index) => ({ 1: `FEWER00${10_000 + index}`, 4: "" }));
  await loads.load(rows);
  await expect(loads.load(rows.slice(0, 799), { day: "13" })).rejects.toThrow(
    /799 rows, .* had 1000: .*--accept-fewer/,
  );
  expect((await loads.load([{ ...rows[0]!, 6: "3" }], { day: "13" })).counts).toMatchObject({ rows: 1 });
  await expect(loads.load(rows.slice(0, 799), { day: "20" })).rejects.toThrow(/had 1000/);
  expect((await loads.load(rows.slice(0, 800), { day: "20" })).counts).toMatchObject({ gone: 200 });
  await loads.load(rows.slice(0, 10), { day: "27", acceptFewer: true });
});

test("a file that is replaced while its load waits for another is refused", async () => {
  const content = (name: string) => extractText([extractRowText({ 1: uei, 12: name })]);
  const path = await writeText("SAM_PUBLIC_20260906.dat", content("AS IT WAS"));
  const waiting = Promise.withResolvers<void>();
  const paused = pausingTransaction(app, 0);
  const first = loads.exclude([{ cage: "1ZZZ1" }], "2026-01-10", paused.given);
  await paused.beginning;
  const own = { client: app.client, collections: app.live, now: () => new Date(app.clock.now) };
  const second = loadExtract({ ...own, path, onWait: () => waiting.resolve() });
  const refused = expect(second).rejects.toThrow(/was replaced/);
  await waiting.promise;
  await writeFile(path, content("REPLACED!"));
  paused.begin();
  paused.commit();
  await first;
  await refused;
  expect(await app.live.entities.countDocuments()).toBe(0);
});
