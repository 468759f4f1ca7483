import { timestampDate } from "@bufbuild/protobuf/wkt";
import { expect, test } from "@jest/globals";
import { pathWithQuery } from "../http/form.ts";
import { choiceField, idField, localTime, readFilter, timeField, utcTime } from "./filter.ts";

const MONITOR = "mon_01m7ygrfd7fvwr2n2apeh0ddm8";
const fields = {
  status: choiceField("State", { "": "any", failed: "failing", Others: { pending: "pending" } }),
  monitor_id: idField("mon"),
  from: timeField("From"),
  to: timeField("Before"),
};
const read = (query: Readonly<Record<string, unknown>>) => readFilter(query, fields);

test("a filter is read from a query, trimmed, and written into links again", () => {
  const query = {
    status: "failed",
    monitor_id: ` ${MONITOR} `,
    from: "2026-11-21T09:30",
    to: "2026-11-21T10:30:05",
    after: "somewhere",
  };
  const { filter, problems } = read(query);
  expect(problems).toEqual({});
  const { after: _after, ...rest } = query;
  const link = new URL(pathWithQuery("/list", filter), "https://acme.example");
  expect(Object.fromEntries(link.searchParams)).toEqual({ ...rest, monitor_id: MONITOR });
});

test("an empty form filters nothing and adds nothing to links", () => {
  const { filter, problems } = read({ status: "", monitor_id: " ", from: ["a", "b"], to: undefined });
  expect([problems, pathWithQuery("/list", filter)]).toEqual([{}, "/list"]);
});

test.each([
  ["status", "lost"],
  ["monitor_id", "ent_01m7ygrfd7fvwr2n2apeh0ddm8"],
  ["monitor_id", "123456789"],
  ["status", "constructor"],
  ["from", "yesterday"],
  ["to", "2026-02-30T09:30"],
] as const)("%s=%s is refused and left out", (name, text) => {
  const { filter, problems } = read({ [name]: text });
  expect(Object.keys(problems)).toEqual([name]);
  expect(filter[name]).toBe("");
});

test("times of the form are UTC, when read and when written", () => {
  expect(timestampDate(utcTime("2026-11-21T09:30")!).toISOString()).toBe("2026-11-21T09:30:00.000Z");
  expect(localTime(new Date("2026-11-21T09:30:59.999Z"))).toBe("2026-11-21T09:30");
  expect(utcTime("2026-11-21T09:30Z")).toBeUndefined();
});
