import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { expect, test } from "@jest/globals";
import { ConfirmationsSchema } from "@vvs/proto/monitor/v1/monitor";
import { confirmedText, noChangeText, staleHint, staleText } from "./confirmed-words.ts";

const now = new Date("2026-10-05T18:00:00Z");
const at = (text: string) => timestampFromDate(new Date(text));
const confirmed = (dataAsOf: { registration?: string; exclusions?: string }) =>
  create(ConfirmationsSchema, {
    times: 3,
    lastAt: at("2026-10-05T14:00:00Z"),
    dataAsOf: {
      ...(dataAsOf.registration && { registration: at(dataAsOf.registration) }),
      ...(dataAsOf.exclusions && { exclusions: at(dataAsOf.exclusions) }),
    },
  });
const dates = { registration: "2026-09-30T00:00:00Z", exclusions: "2026-10-05T00:00:00Z" };

test("says up to when nothing changed, in data of which days, and when the last full check was", () => {
  expect(confirmedText({ confirmed: confirmed(dates), at: at("2026-10-01T09:30:00Z") }, now)).toBe(
    "No change found in our data up to 14:00 UTC. Registration data of 30 September 2026, exclusions of today. Last full check 1 October 2026.",
  );
});

test.each([
  ["a file cut on Washington’s day is of today", "2026-10-06T01:00:00Z", "2026-10-05T00:00:00Z", "today"],
  ["one of the day before Washington’s", "2026-10-06T12:00:00Z", "2026-10-05T00:00:00Z", "yesterday"],
  ["an answer of SAM.gov’s API, a moment in UTC", "2026-10-06T01:00:00Z", "2026-10-05T23:00:00Z", "yesterday"],
])("%s", (_name, moment, exclusions, day) => {
  const shown = noChangeText(confirmed({ ...dates, exclusions }), new Date(moment));
  expect(shown).toContain(`exclusions of ${day}.`);
});

test("names the day of a check before today, and in print all days", () => {
  expect(noChangeText(confirmed(dates), new Date("2026-10-06T02:00:00Z"))).toContain(
    "up to 5 October 2026, 14:00 UTC.",
  );
  expect(noChangeText(confirmed(dates))).toBe(
    "No change found in our data up to 5 October 2026, 14:00 UTC. Registration data of 30 September 2026, exclusions of 5 October 2026.",
  );
});

test("leaves out dates that are unknown", () => {
  expect(noChangeText(confirmed({ exclusions: dates.exclusions }), now)).toBe(
    "No change found in our data up to 14:00 UTC. Exclusions of today.",
  );
  expect(noChangeText(confirmed({}), now)).toBe("No change found in our data up to 14:00 UTC.");
});

test("says since when the data is too old", () => {
  expect(staleText(at("2026-10-04T08:00:00Z"), now)).toBe(
    "Our data of SAM.gov’s exclusions is too old: since 4 October 2026, 08:00 UTC scheduled checks confirm nothing.",
  );
  expect(staleHint(at("2026-10-05T08:00:00Z"), now)).toBe("Not confirmed since 08:00 UTC: our data is too old.");
});
