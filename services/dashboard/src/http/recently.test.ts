import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { expect, test } from "@jest/globals";
import { isRecent, RECENT_MS } from "./recently.ts";

const now = new Date("2026-03-01T12:00:00Z");

test.each([
  [0, true],
  [RECENT_MS - 1, true],
  [RECENT_MS, false],
])("a password given %i ms ago is recent: %s", (agoMs, expected) => {
  const authenticatedAt = timestampFromDate(new Date(now.getTime() - agoMs));
  expect(isRecent({ authenticatedAt }, now)).toBe(expected);
});

test("a session that does not say when is not recent", () => {
  expect(isRecent({}, now)).toBe(false);
});
