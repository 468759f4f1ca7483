import { expect, test } from "@jest/globals";
import { withWait } from "./refusal.ts";

test.each([
  ["Too many failed sign-ins. Try again later.", 840, "Too many failed sign-ins. Try again in 14 minutes."],
  ["Try again later, or sign out and in again.", 1, "Try again in 1 second, or sign out and in again."],
  ["Check your inbox, or try again later.", 7_300, "Check your inbox, or try again in 3 hours."],
  ["Try again in a few seconds.", 5, "Try again in 5 seconds."],
  ["Too many failed sign-ins.", 91, "Too many failed sign-ins. Try again in 2 minutes."],
])("the refusal %j for %i s says %j", (message, seconds, expected) => {
  expect(withWait(message, seconds)).toBe(expected);
});
