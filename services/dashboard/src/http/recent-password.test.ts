import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { expect, test } from "@jest/globals";
import { hasRecentPassword, RECENT_MS } from "./session.ts";

const now = new Date("2026-03-01T12:00:00Z");

test.each([
  [0, true],
  [RECENT_MS - 1, true],
  [RECENT_MS, false],
])("a password entered %i ms ago counts as recent: %s", (agoMs, expected) => {
  const authenticatedAt = timestampFromDate(new Date(now.getTime() - agoMs));
  expect(hasRecentPassword({ session: { authenticatedAt }, now })).toBe(expected);
});

test("a session without that time does not count as recent", () => {
  expect(hasRecentPassword({ session: {}, now })).toBe(false);
});
