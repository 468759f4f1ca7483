import { expect, test } from "@jest/globals";
import { agoText, untilText } from "./parts.ts";

test.each([
  [0, "just now"],
  [-5_000, "just now"],
  [59_999, "just now"],
  [60_000, "1 minute ago"],
  [7_200_000, "2 hours ago"],
  [86_400_000 * 29, "29 days ago"],
  [86_400_000 * 61, "2 months ago"],
  [86_400_000 * 800, "2 years ago"],
])("a time %i ms before is shown as %s", (passedMs, text) => {
  const now = new Date("2026-11-23T12:00:00Z");
  expect(agoText(new Date(now.getTime() - passedMs), now)).toBe(text);
});

test.each([
  [-1, "within a minute"],
  [59_999, "within a minute"],
  [60_000, "in 1 minute"],
  [7_199_999, "in 1 hour"],
  [86_400_000 * 7, "in 7 days"],
])("a time %i ms ahead is shown as %s", (aheadMs, text) => {
  const now = new Date("2026-11-23T12:00:00Z");
  expect(untilText(new Date(now.getTime() + aheadMs), now)).toBe(text);
});
