import { expect, test } from "@jest/globals";
import { startTestApplication } from "../testing/application.ts";
import { createLoads } from "../testing/loads.ts";
import { printPlan } from "./print-plan.ts";

const app = await startTestApplication();

test("the plan counts the loaded registry as of today, and what monitoring a part of it costs", async () => {
  app.clock.now = new Date("2026-09-13T12:00:00Z");
  const loads = createLoads(app);
  const ueiOf = (index: number) => `ABCDEFGHJK${50 + index}`;
  await loads.load([{ 1: ueiOf(10) }]);
  const rows: Record<number, string>[] = [
    { 9: "20260905" },
    { 9: "20260912" },
    { 9: "20260801", 6: "E" },
    { 9: "20260913" },
    { 9: "20261012" },
    { 9: "20261012" },
    { 9: "20261013", 116: "D" },
    {},
    {},
  ];
  await loads.load(
    rows.map((row, index) => ({ 1: ueiOf(index), ...row })),
    { day: "07" },
  );
  await loads.exclude([{ uei: ueiOf(0) }, { uei: ueiOf(5), until: "2026-09-12" }], "2026-09-13");
  const change = (index: number, sam: object) =>
    app.live.entities.updateOne({ "identifiers.uei": ueiOf(index) }, { $set: sam });
  await change(7, { "sam.sam_registered": false });
  await change(8, { "sam.listed_as": "inactive" });
  // An organization's own entity is no further vendor.
  const tenant = { organizationId: "org_plan", environment: 1 };
  await app.gateway.createEntity({
    caller: { tenant, actor: "key_1", requestId: "req_1" },
    legalName: "Own",
    identifiers: { uei: ueiOf(20) },
  });
  const lines: string[] = [];
  const print = (line: string) => lines.push(line);
  await printPlan(app.live, { monitored: undefined, now: app.clock.now, print });
  expect(lines).toEqual([
    "vendors 10: lapsed 1 in the 30 days before the file, 1 earlier, inactive 1, only an id 1, gone 1; excluded 2",
    "expired since the file was cut, renewed or not: 1",
    "expiring in the next 30 days: 3, 0 a day, 2 at most",
    "monitored daily: 10",
    "asked on an average day: 3 vendors, 4 calls",
    "asked on the day with the most expirations: 5 vendors, 4 calls",
    "asked on a day of the first month: 6 vendors, 4 calls",
    "quota 1000: 700 calls for runs, 696 left; fits; room for all vendors",
    "quota 1000: registration data at most a day old for 10 of 10 vendors",
    "quota 10000: 7000 calls for runs, 6996 left; fits; room for all vendors",
    "quota 10000: registration data at most a day old for 10 of 10 vendors",
    "registration data at most a day old for all 10: a quota of 12",
  ]);
  lines.length = 0;
  await printPlan(app.live, { monitored: 3, now: app.clock.now, print });
  expect(lines).toContain("monitored daily: 3");
});
