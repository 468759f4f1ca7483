import { timestampDate } from "@bufbuild/protobuf/wkt";
import { expect, test } from "@jest/globals";
import { pathWithQuery } from "../http/paths.ts";
import { localTime, readDeliveryFilter, utcTime } from "./delivery-filter.ts";

const MONITOR = "mon_01m7ygrfd7fvwr2n2apeh0ddm8";

test("a filter is read from a query, trimmed, and written into links again", () => {
  const query = {
    status: "failed",
    monitor_id: ` ${MONITOR} `,
    url: "https://acme.example/hook?a=1",
    from: "2026-11-21T09:30",
    to: "2026-11-21T10:30:05",
    tests: "only",
    after: "somewhere",
  };
  const { filter, problems } = readDeliveryFilter(query);
  expect(problems).toEqual({});
  const { after: _after, ...rest } = query;
  const link = new URL(pathWithQuery("/list", filter), "https://acme.example");
  expect(Object.fromEntries(link.searchParams)).toEqual({ ...rest, monitor_id: MONITOR });
});

test("an empty form filters nothing and adds nothing to links", () => {
  const { filter, problems } = readDeliveryFilter({ status: "", monitor_id: " ", url: ["a", "b"], tests: undefined });
  expect([problems, pathWithQuery("/list", filter)]).toEqual([{}, "/list"]);
});

test.each([
  ["status", "lost"],
  ["monitor_id", "ent_01m7ygrfd7fvwr2n2apeh0ddm8"],
  ["monitor_id", "123456789"],
  ["url", "acme.example/hook"],
  ["url", "javascript:alert(1)"],
  ["from", "yesterday"],
  ["to", "2026-02-30T09:30"],
  ["tests", "yes"],
] as const)("%s=%s is refused and left out", (name, text) => {
  const { filter, problems } = readDeliveryFilter({ [name]: text });
  expect(Object.keys(problems)).toEqual([name]);
  expect(filter[name]).toBe("");
});

test("times of the form are UTC, when read and when written", () => {
  expect(timestampDate(utcTime("2026-11-21T09:30")!).toISOString()).toBe("2026-11-21T09:30:00.000Z");
  expect(localTime(new Date("2026-11-21T09:30:59.999Z"))).toBe("2026-11-21T09:30");
  expect(utcTime("2026-11-21T09:30Z")).toBeUndefined();
});
