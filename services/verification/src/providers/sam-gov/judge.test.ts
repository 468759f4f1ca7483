import { describe, expect, test } from "@jest/globals";
import type { PartSource, Parts, RegistrationPart } from "@vvs/registration";
import { mayFailUntil } from "../../questions/rules.ts";
import { exclusionsPart, registrationPart } from "../../testing/parts.ts";
import type { ProviderError } from "../provider.ts";
import { judge } from "./judge.ts";

const extract = (cutDate: string, listed: Partial<RegistrationPart>) =>
  registrationPart(new Date(cutDate), { origin: "sam_gov_extract", load: "registry:1", ...listed });
const exclusionsFile = (cutDate: string) =>
  exclusionsPart(new Date(cutDate), { origin: "sam_gov_exclusions", load: "exclusions:1" });

function answer(parts: Parts, moment: string, isLaterRun = false): string {
  const knowledge = { kept: undefined, wasParked: false };
  const run = { mayFailUntil: (part: PartSource) => mayFailUntil(part, knowledge), asksExclusions: false };
  const now = new Date(moment);
  try {
    const { outcome, reason } = judge(parts, { now, hasApi: true, ...(isLaterRun && { run }) });
    return [outcome, reason].filter(Boolean).join(" ");
  } catch (error) {
    return (error as ProviderError).reason;
  }
}

/** The last moment of the day in Washington and the next one. */
const nights: [name: string, day: string, last: string, next: string][] = [
  ["in winter", "2026-11-24", "2026-11-25T04:59:59.999Z", "2026-11-25T05:00:00Z"],
  ["in summer", "2026-07-31", "2026-08-01T03:59:59.999Z", "2026-08-01T04:00:00Z"],
  ["where clocks are set back", "2026-11-01", "2026-11-02T04:59:59.999Z", "2026-11-02T05:00:00Z"],
  ["where clocks are set forward", "2027-03-14", "2027-03-15T03:59:59.999Z", "2027-03-15T04:00:00Z"],
  ["on a leap day", "2028-02-29", "2028-03-01T04:59:59.999Z", "2028-03-01T05:00:00Z"],
];

describe.each(nights)("at the end of a day in Washington %s", (_name, day, last, next) => {
  const before = (count: number) => new Date(Date.parse(day) - count * 86_400_000).toISOString().slice(0, 10);

  test("a registration that expires is active until then", () => {
    const parts = { registration: extract("2026-06-07", { expiration_date: day }), exclusions: exclusionsFile(day) };
    expect([answer(parts, last), answer(parts, next)]).toEqual(["pass", "stale_source"]);
  });

  test("a file becomes a day older", () => {
    const clear = (cutDate: string) => ({
      registration: extract("2026-06-07", { expiration_date: "2099-01-01" }),
      exclusions: exclusionsFile(cutDate),
    });
    expect([answer(clear(before(3)), last), answer(clear(before(3)), next)]).toEqual(["pass", "stale_source"]);
    const inactive = {
      registration: extract(before(1), { listed_as: "inactive", expiration_date: "2099-01-01" }),
      exclusions: exclusionsFile(day),
    };
    for (const isLaterRun of [false, true]) {
      expect(answer(inactive, last, isLaterRun)).toBe("fail inactive");
      expect(answer(inactive, next, isLaterRun)).toBe("stale_source");
    }
  });
});
