import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { expect, test } from "@jest/globals";
import { isConfirmed, RECENT_MS } from "./session.ts";

const now = new Date("2026-03-01T12:00:00Z");

test.each([
  [0, true],
  [RECENT_MS - 1, true],
  [RECENT_MS, false],
])("a user who confirmed their identity %i ms ago counts as confirmed: %s", (agoMs, expected) => {
  const authenticatedAt = timestampFromDate(new Date(now.getTime() - agoMs));
  expect(isConfirmed({ session: { authenticatedAt }, now })).toBe(expected);
});

test("a session without that time does not count as confirmed", () => {
  expect(isConfirmed({ session: {}, now })).toBe(false);
});
