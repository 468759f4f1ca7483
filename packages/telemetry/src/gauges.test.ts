import { expect, test } from "@jest/globals";
import { metrics } from "@opentelemetry/api";
import { observeGauges } from "./gauges.ts";
import { recordTelemetry } from "./testing.ts";

const { metric } = recordTelemetry();

test("a value that is no longer read is NaN, not the last one, until it is read again", async () => {
  const meter = metrics.getMeter("test");
  const [depth, age] = [meter.createObservableGauge("depth"), meter.createObservableGauge("age")];
  const failing = () => Promise.reject(new Error("the store is unavailable"));
  const both = async () => ({ a: 1, b: 2 });
  let count: () => Promise<Record<string, number>> = both;
  const stop = observeGauges(meter, [depth, age], async (observe) => {
    observe(age, 7);
    for (const [queue, value] of Object.entries(await count())) observe(depth, value, { queue });
  });
  const values = async (name: string) =>
    (await metric(name))!.dataPoints.map(({ attributes, value }) => [attributes.queue, value]);
  const known = [
    ["a", 1],
    ["b", 2],
  ];
  expect(await values("depth")).toEqual(known);
  count = failing;
  expect(await values("depth")).toEqual([
    ["a", Number.NaN],
    ["b", Number.NaN],
  ]);
  expect(await values("age")).toEqual([[undefined, 7]]);
  count = both;
  expect(await values("depth")).toEqual(known);
  count = async () => ({ a: 3 });
  expect(await values("depth")).toEqual([
    ["a", 3],
    ["b", Number.NaN],
  ]);
  stop();
});
