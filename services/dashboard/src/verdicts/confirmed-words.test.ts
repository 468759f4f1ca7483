import { expect, test } from "@jest/globals";
import { confirmedText, noChangeText, staleHint, staleText } from "./confirmed-words.ts";

const now = new Date("2026-10-05T18:00:00Z");
const confirmation = {
  times: 3,
  lastAt: new Date("2026-10-05T14:00:00Z"),
  registration: new Date("2026-09-30T00:00:00Z"),
  exclusions: new Date("2026-10-05T00:00:00Z"),
  fullCheckAt: new Date("2026-10-01T09:30:00Z"),
};

test("says up to when nothing changed, in data of which days, and when the last full check was", () => {
  expect(confirmedText(confirmation, now)).toBe(
    "No change found in our data up to 14:00 UTC. Registration data of 30 September 2026, exclusions of today. Last full check 1 October 2026.",
  );
});

test.each([
  ["a file cut on Washington’s day is of today", "2026-10-06T01:00:00Z", "2026-10-05T00:00:00Z", "today"],
  ["one of the day before Washington’s", "2026-10-06T12:00:00Z", "2026-10-05T00:00:00Z", "yesterday"],
  ["an answer of SAM.gov’s API, a moment in UTC", "2026-10-06T01:00:00Z", "2026-10-05T23:00:00Z", "yesterday"],
])("%s", (_name, at, exclusions, day) => {
  const shown = noChangeText({ ...confirmation, exclusions: new Date(exclusions) }, new Date(at));
  expect(shown).toContain(`exclusions of ${day}.`);
});

test("names the day of a check before today, and in print all days", () => {
  expect(noChangeText(confirmation, new Date("2026-10-06T02:00:00Z"))).toContain("up to 5 October 2026, 14:00 UTC.");
  expect(noChangeText(confirmation)).toBe(
    "No change found in our data up to 5 October 2026, 14:00 UTC. Registration data of 30 September 2026, exclusions of 5 October 2026.",
  );
});

test("leaves out dates that are unknown", () => {
  const { registration: _, ...rest } = confirmation;
  expect(noChangeText({ ...rest, registration: undefined }, now)).toBe(
    "No change found in our data up to 14:00 UTC. Exclusions of today.",
  );
  const none = { ...confirmation, registration: undefined, exclusions: undefined };
  expect(noChangeText(none, now)).toBe("No change found in our data up to 14:00 UTC.");
});

test("says since when the data is too old", () => {
  expect(staleText(new Date("2026-10-04T08:00:00Z"), now)).toBe(
    "Our data of SAM.gov’s exclusions is too old: since 4 October 2026, 08:00 UTC scheduled checks confirm nothing.",
  );
  expect(staleHint(new Date("2026-10-05T08:00:00Z"), now)).toBe("Not confirmed since 08:00 UTC: our data is too old.");
});
