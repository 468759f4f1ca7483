import { expect, test } from "@jest/globals";
import { axisTop, lines } from "./plot.ts";

test.each([
  [0, 2],
  [1, 2],
  [3, 4],
  [10, 10],
  [11, 12],
  [96, 100],
  [100, 100],
  [116, 120],
  [207, 240],
  [4_668, 5_000],
  [8_001, 10_000],
])("the axis of values up to %d ends at %d", (most, top) => {
  expect(axisTop(most)).toBe(top);
});

test.each<[string, (number | undefined)[], number]>([
  ["one day", [4], 1],
  ["a day between days without a value", [undefined, 4, undefined, 2], 2],
  ["days beside each other", [4, 2, undefined], 0],
])("%s is a visible point", (_name, values, dots) => {
  const points = values.map((value, place) => ({ label: `day ${place}`, tick: "", values: [value] }));
  const plot = { id: "p", title: "P", series: [{ name: "S", className: "s" }], points, text: String };
  const [, path = ""] = /class="line dot s" d="([^"]*)"/.exec(lines(plot).markup) ?? [];
  expect(path.match(/M/g)?.length ?? 0).toBe(dots);
});
