import { expect, test } from "@jest/globals";
import { recordTelemetry } from "@vvs/telemetry/testing";
import { startTestApplication } from "../testing/application.ts";
import { createLoads } from "../testing/loads.ts";
import { observeFiles } from "./files-age-metrics.ts";

const { metric } = recordTelemetry();
const app = await startTestApplication();

test("the age of each kind of file is that of the newest loaded one, also after a withdrawal", async () => {
  app.clock.now = new Date("2026-09-20T12:00:00Z");
  const now = () => new Date(app.clock.now);
  const ages = async () => {
    const points = (await metric("entity_registry_file_age_days"))?.dataPoints ?? [];
    return Object.fromEntries(points.map(({ attributes, value }) => [attributes.file, value]));
  };
  const stop = observeFiles(app.live, now);
  expect(await ages()).toEqual({});
  const loads = createLoads(app);
  const { loadId: first } = await loads.load([{}], { day: "06" });
  await loads.exclude([{ uei: "ABCDEFGHJK11" }], "2026-09-17");
  expect(await ages()).toEqual({ registry: 14, exclusions: 3 });
  const { loadId } = await loads.load([{}], { day: "13" });
  expect(await ages()).toEqual({ registry: 7, exclusions: 3 });
  await loads.withdraw(loadId);
  expect(await ages()).toEqual({ registry: 14, exclusions: 3 });
  app.clock.now = new Date("2026-09-21T03:59:59Z");
  expect(await ages()).toEqual({ registry: 14, exclusions: 3 });
  app.clock.now = new Date("2026-09-21T04:00:00Z");
  expect(await ages()).toEqual({ registry: 15, exclusions: 4 });
  await loads.withdraw(first);
  expect(await ages()).toEqual({ registry: Number.NaN, exclusions: 4 });
  stop();
});

test("a refused file is reported with its reason until one is loaded, for two days at most", async () => {
  app.clock.now = new Date("2026-09-20T12:00:00Z");
  const now = () => new Date(app.clock.now);
  const loads = createLoads(app);
  await loads.clear();
  const refused = async () => {
    const points = (await metric("entity_registry_file_refused"))?.dataPoints ?? [];
    return points.filter(({ value }) => value === 1).map(({ attributes }) => attributes);
  };
  const stop = observeFiles(app.live, now);
  expect(await refused()).toEqual([]);
  const unreadable = [{ uei: "ABCDEFGHJK11" }, { until: "x" }, { until: "y" }];
  await expect(loads.exclude(unreadable, "2026-09-17")).rejects.toThrow(/2 of the 3 rows/);
  await expect(loads.load([{}], { day: "06", count: 2 })).rejects.toThrow(/promises 2 rows/);
  const reason = expect.stringMatching(/line 3: the Termination Date is not a date; line 4/);
  expect(await refused()).toEqual([
    { file: "exclusions", reason },
    { file: "registry", reason: expect.stringContaining("promises 2 rows") },
  ]);
  await loads.exclude([{ uei: "ABCDEFGHJK11" }], "2026-09-17");
  expect(await refused()).toMatchObject([{ file: "registry" }]);
  app.clock.now = new Date("2026-09-22T12:00:01Z");
  expect(await refused()).toEqual([]);
  stop();
});
