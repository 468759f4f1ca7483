import { describe, expect, test } from "@jest/globals";
import { parseAccessTime, quotaReset, requireAnswer } from "./refusal.ts";

const NOW = new Date("2026-11-21T09:30:00Z");
const flat = (nextAccessTime: unknown) => JSON.stringify({ code: "900804", message: "throttled", nextAccessTime });
const fault = (nextAccessTime: unknown) => JSON.stringify({ fault: { code: 900804, nextAccessTime } });

describe("a used-up quota is available again", () => {
  test.each([
    ["at the time in the flat shape", flat("2026-Nov-21 16:59:00+0000 UTC"), {}, "2026-11-21T16:59:00.000Z"],
    ["at the time in the wrapped shape", fault("2026-Nov-22 00:00:00+0000 UTC"), {}, "2026-11-22T00:00:00.000Z"],
    ["at the ISO time in the flat shape", flat("2026-11-22T00:00:00Z"), {}, "2026-11-22T00:00:00.000Z"],
    ["at the ISO time in the wrapped shape", fault("2026-11-21T20:00:00+02:00"), {}, "2026-11-21T18:00:00.000Z"],
    ["at the time in Retry-After", "slow down", { "retry-after": "90" }, "2026-11-21T09:31:30.000Z"],
    ["at midnight UTC where no time is given", "", {}, "2026-11-22T00:00:00.000Z"],
    ["at midnight UTC where the time can't be read", flat("tomorrow"), {}, "2026-11-22T00:00:00.000Z"],
    ["at midnight UTC where the time is not a text", flat(12), {}, "2026-11-22T00:00:00.000Z"],
    ["after a minute where the time is past", fault("2020-Jan-08 16:59:00+0000 UTC"), {}, "2026-11-21T09:31:00.000Z"],
    ["after a day where the time is later", flat("2099-Jan-01 00:00:00+0000 UTC"), {}, "2026-11-22T09:30:00.000Z"],
  ])("%s", (_name, text, headers, expected) => {
    expect(quotaReset({ text, headers }, NOW).toISOString()).toBe(expected);
  });

  test.each(["2026-Nov-31", "2026-Foo-09 00:00:00+0000 UTC", "", "2026", "09/09/2026"])("%j is not a time", (text) => {
    expect(parseAccessTime(text)).toBeUndefined();
  });
});

test.each([
  [429, { reason: "quota_exhausted", isFault: false, shutUntil: new Date("2026-11-22T00:00:00Z") }],
  [401, { reason: "http_401", isFault: true, shutUntil: undefined }],
  [403, { reason: "http_403", isFault: true, shutUntil: undefined }],
  [500, { reason: "http_500", isFault: true, shutUntil: undefined }],
  [302, { reason: "http_302", isFault: true, shutUntil: undefined }],
])("a %i throws", (status, expected) => {
  const response = { status, headers: {}, text: "", contentType: "text/plain" };
  expect(() => requireAnswer(response, NOW)).toThrow(expect.objectContaining(expected) as unknown as Error);
});
