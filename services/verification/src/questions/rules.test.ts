import { describe, expect, test } from "@jest/globals";
import type { RegistrationPart } from "@vvs/registration";
import { registrationPart } from "../testing/parts.ts";
import { afterFailure, askAgainAt, mayFailUntil, publicAnswerAfter } from "./rules.ts";

const at = (text: string) => new Date(text.length === 10 ? `${text}T00:00:00Z` : text);

describe("an answer other than active is asked for again", () => {
  test.each([
    ["the next day", "2026-11-22T00:00:00Z", "2026-11-22T00:00:00Z", "2026-11-23"],
    ["the next day, even if asked in its last minute", "2026-11-22T23:59:59Z", "2026-11-22T23:59:59Z", "2026-11-23"],
    ["the next day, until 30 days have passed", "2026-11-22T10:00:00Z", "2026-10-23T10:00:01Z", "2026-11-23"],
    ["the next day, in the next month", "2026-11-30T23:59:59Z", "2026-11-30T23:59:59Z", "2026-12-01"],
    ["the next day, in the next year", "2026-12-31T10:00:00Z", "2026-12-31T10:00:00Z", "2027-01-01"],
    ["on a leap day", "2028-02-28T10:00:00Z", "2028-02-28T10:00:00Z", "2028-02-29"],
    ["after a leap day", "2028-02-29T10:00:00Z", "2028-02-29T10:00:00Z", "2028-03-01"],
    ["by UTC where clocks are set forward in Washington", "2027-03-14T06:59:00Z", "2027-03-13T00:00:00Z", "2027-03-15"],
    ["by UTC where clocks are set back in Washington", "2026-11-01T05:30:00Z", "2026-10-31T00:00:00Z", "2026-11-02"],
  ])("%s", (_name, askedAt, since, expected) => {
    expect(askAgainAt("uei:A", at(askedAt), at(since))).toEqual(at(expected));
  });

  test("after that on a day of the week of its own, so that questions of one day spread", () => {
    const since = at("2026-10-23T10:00:00Z");
    const counts = new Array<number>(8).fill(0);
    for (let index = 0; index < 7_000; index++) {
      const key = `uei:${index}`;
      const first = askAgainAt(key, at("2026-11-22T10:00:00Z"), since);
      counts[(first.getTime() - at("2026-11-22").getTime()) / 86_400_000]!++;
      const asked = new Date(first.getTime() + 50_000_000);
      expect(askAgainAt(key, asked, since).getTime() - first.getTime()).toBe(7 * 86_400_000);
    }
    expect(counts[0]).toBe(0);
    for (const count of counts.slice(1)) expect(Math.abs(count - 1_000)).toBeLessThan(150);
  });
});

describe("the kept answer", () => {
  const answer = (listed: Partial<RegistrationPart>, date: string) => ({
    key: "uei:A",
    parts: { registration: registrationPart(at(date), listed) },
    bodies: [],
    askedAt: at(date),
  });

  test("has no time at which it is asked for again while it is active", () => {
    const kept = publicAnswerAfter({ not_active_since: at("2026-11-01") }, answer({}, "2026-11-22T10:00:00Z"));
    expect(Object.keys(kept).toSorted()).toEqual(["_id", "asked_at", "bodies", "parts"]);
  });

  test("of an expired registration counts from the day after its expiration date in Washington", () => {
    const expired = answer({ listed_as: "inactive", expiration_date: "2026-06-30" }, "2026-11-22T10:00:00Z");
    const { not_active_since, ask_again_at } = publicAnswerAfter({ not_active_since: at("2026-11-20") }, expired);
    expect(not_active_since).toEqual(at("2026-07-01T04:00:00Z"));
    expect(ask_again_at).toEqual(askAgainAt("uei:A", expired.askedAt, not_active_since!));
  });

  test.each<[string, Partial<RegistrationPart>]>([
    ["absent", { listed_as: "not_found" }],
    ["only an id", { id_only: true }],
    ["inactive", { listed_as: "inactive" }],
  ])("remembers since when the vendor is %s", (_name, listed) => {
    const first = publicAnswerAfter(undefined, answer(listed, "2026-11-22T10:00:00Z"));
    expect(first).toMatchObject({ not_active_since: at("2026-11-22T10:00:00Z"), ask_again_at: at("2026-11-23") });
    const later = publicAnswerAfter(first, answer(listed, "2026-12-23T10:00:00Z"));
    const since = at("2026-11-22T10:00:00Z");
    const ask_again_at = askAgainAt("uei:A", at("2026-12-23T10:00:00Z"), since);
    expect(later).toMatchObject({ not_active_since: since, ask_again_at });
  });

  test("is other than active where the registration flags an exclusion", () => {
    const flagged = answer({}, "2026-11-22T10:00:00Z");
    const { date, origin, load } = flagged.parts.registration;
    const parts = { ...flagged.parts, exclusions: { date, origin, load, flagged: true, exclusions: [] } };
    expect(publicAnswerAfter(undefined, { ...flagged, parts }).ask_again_at).toEqual(at("2026-11-23"));
  });
});

describe("a part that shows something other than active may answer a later run", () => {
  const api = (date: string) => ({ origin: "sam_gov_api", load: "", date: at(date) });
  const file = (date: string) => ({ origin: "sam_gov_extract", load: "registry:1", date: at(date) });
  const kept = (asked: string, again?: string) => ({ asked_at: at(asked), ...(again && { ask_again_at: at(again) }) });
  test.each([
    [
      "until midnight UTC, when calls are left again, as the API's",
      api("2026-11-22T03:00:00Z"),
      undefined,
      false,
      "2026-11-23",
    ],
    [
      "for a day, as the answer that the run waited for",
      api("2026-11-22T23:59:00Z"),
      undefined,
      true,
      "2026-11-23T23:59:00Z",
    ],
    [
      "until the end of the next day in Washington, as a file's",
      file("2026-11-22"),
      undefined,
      false,
      "2026-11-24T05:00Z",
    ],
    ["until the end of a leap day, as a file's", file("2028-02-28"), undefined, false, "2028-03-01T05:00Z"],
    ["until the end of a month's first day, as a file's", file("2026-11-30"), undefined, false, "2026-12-02T05:00Z"],
    ["until the end of a summer's day, as a file's", file("2026-07-30"), undefined, false, "2026-08-01T04:00Z"],
    [
      "until it is asked again",
      api("2026-11-22T03:00:00Z"),
      kept("2026-11-22T03:00:00Z", "2026-11-29"),
      false,
      "2026-11-29",
    ],
    [
      "until a kept answer that is older is asked again",
      file("2026-11-22"),
      kept("2026-11-21", "2026-11-28"),
      false,
      "2026-11-28",
    ],
    [
      "not as long as a kept answer that is newer",
      file("2026-11-01"),
      kept("2026-11-21", "2026-11-28"),
      false,
      "2026-11-03T05:00Z",
    ],
    [
      "not as long as a kept answer that was active",
      api("2026-11-22T03:00:00Z"),
      kept("2026-11-22"),
      false,
      "2026-11-23",
    ],
  ])("%s", (_name, part, keptAnswer, wasParked, expected) => {
    expect(mayFailUntil(part, { kept: keptAnswer, wasParked })).toEqual(at(expected));
  });
});

describe("a question whose call failed", () => {
  const now = at("2026-11-22");
  const pauseOf = (failures: number) =>
    afterFailure({ failures, kind: "absent" }, now).not_before.getTime() - now.getTime();

  test("is asked again after a pause that doubles, up to six hours", () => {
    expect([0, 1, 2, 8, 9, 100].map((failures) => pauseOf(failures) / 60_000)).toEqual([1, 2, 4, 256, 360, 360]);
  });

  test("is asked by itself from the third failure on, in case that it makes its calls fail", () => {
    expect([0, 1, 2, 3].map((failures) => afterFailure({ failures, kind: "absent" }, now).kind)).toEqual([
      "absent",
      "absent",
      "single",
      "single",
    ]);
  });
});
