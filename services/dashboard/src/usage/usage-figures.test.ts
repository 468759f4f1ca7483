import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { expect, test } from "@jest/globals";
import { type UsageCount, UsageCountSchema } from "@vvs/proto/account/v1/usage";
import {
  figuresByPeriod,
  labelOf,
  latencyOf,
  outcomeOf,
  quantile,
  rangesAt,
  requestsByKey,
  tickOf,
  totalOf,
} from "./usage-figures.ts";

const at = (time: string) => new Date(`2026-03-${time}:00.000Z`);

function count(
  change: { status?: number; requests?: number; key?: string; hour?: Date; place?: number } = {},
): UsageCount {
  const { status = 200, requests = 1, key = "key_1", hour = at("01T00:00"), place = 3 } = change;
  const durations = Array.from({ length: 16 }, (_, index) => BigInt(index === place ? requests : 0));
  return create(UsageCountSchema, {
    apiKeyId: key,
    status,
    requests: BigInt(requests),
    hour: timestampFromDate(hour),
    durations,
  });
}

test.each([
  [200, "answered"],
  [201, "answered"],
  [404, "refused"],
  [400, "refused"],
  [429, "limited"],
  [500, "failed"],
  [503, "failed"],
  [0, "unanswered"],
])("a status of %d means %s", (status, outcome) => {
  expect(outcomeOf(status)).toBe(outcome);
});

test("each period has its figures, also one without requests", () => {
  const range = { from: at("01T00:00"), to: at("04T00:00"), stepMs: 24 * 60 * 60 * 1000 };
  const figures = figuresByPeriod(
    [count({ requests: 3 }), count({ status: 429 }), count({ hour: at("03T00:00"), status: 500 })],
    range,
  );
  expect(figures.map(({ at, requests }) => [at.getUTCDate(), ...Object.values(requests), totalOf(requests)])).toEqual([
    [1, 3, 0, 1, 0, 0, 4],
    [2, 0, 0, 0, 0, 0, 0],
    [3, 0, 0, 0, 1, 0, 1],
  ]);
  expect(figures.map(({ latency }) => latency !== undefined)).toEqual([true, false, true]);
});

test.each([
  [[0, 0, 0, 10], 0.5, 6],
  [[0, 0, 0, 10], 1, 8],
  [[10], 0.5, 0.5],
  [[5, 0, 0, 0, 5], 0.5, 1],
  [[5, 0, 0, 0, 5], 0.75, 12],
  [[], 0.5, 0],
])("of the histogram %j a share of %d stays below %d ms", (histogram, share, expected) => {
  expect(quantile(histogram, share)).toBe(expected);
});

test("requests answered with 429 are left out of durations", () => {
  expect(latencyOf([count({ status: 429, requests: 1_000, place: 0 })])).toBeUndefined();
  expect(latencyOf([count({ status: 429, requests: 1_000, place: 0 }), count({ place: 5 })])!.p50).toBe(24);
});

test("keys are sorted by their number of requests", () => {
  const counts = [count({ key: "key_1" }), count({ key: "key_2", requests: 5 }), count({ key: "key_1", status: 404 })];
  expect(requestsByKey(counts)).toEqual([
    ["key_2", 5],
    ["key_1", 2],
  ]);
});

test.each([
  ["day", "10:00", "2026-03-01 10:00 UTC"],
  ["week", "1 March", "2026-03-01 10:00 UTC"],
  ["month", "1 March", "1 March 2026"],
  ["quarter", "1 March", "1 March 2026"],
])("a chart of a %s writes a date on its axis as %s, and in its numbers as %s", (id, tick, label) => {
  const range = rangesAt(at("01T10:30")).find((each) => each.id === id)!;
  expect([tickOf(at("01T10:00"), range), labelOf(at("01T10:00"), range)]).toEqual([tick, label]);
});
