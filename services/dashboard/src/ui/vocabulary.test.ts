import { expect, test } from "@jest/globals";
import { messageText } from "../http/problem.ts";
import { ageText } from "./parts.ts";

test.each([
  [0, "as of the check"],
  [59, "as of the check"],
  [60, "1 minute old"],
  [7_199, "1 hour old"],
  [86_400, "1 day old"],
  [200_000, "2 days old"],
])("data of %i s is %s", (seconds, text) => {
  expect(ageText(seconds)).toBe(text);
});

test.each([
  ["No entity matches.", "No vendor matches."],
  ["An entity with one of these identifiers exists.", "A vendor with one of these identifiers exists."],
  ["Several entities match an entity.", "Several vendors match a vendor."],
  ["The identity is known.", "The identity is known."],
])("the message “%s” is shown as “%s”", (message, text) => {
  expect(messageText(message)).toBe(text);
});
