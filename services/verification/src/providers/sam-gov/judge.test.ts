import { describe, expect, test } from "@jest/globals";
import type { ExclusionsPart, PartSource, Parts, RegistrationPart } from "@vvs/registration";
import { usableUntil } from "../../questions/rules.ts";
import type { ProviderError } from "../provider.ts";
import { judge } from "./judge.ts";

const facts = { legal_name: "ACME LLC", cage: "", entity_type: "" };
const active = (expiration_date: string) => ({
  listed_as: "active" as const,
  id_only: false,
  expiration_date,
  ...facts,
});
const extract = (cutDate: string, listed: Partial<RegistrationPart> = {}): RegistrationPart => ({
  ...{ origin: "sam_gov_extract", date: new Date(`${cutDate}T00:00:00Z`), load: "registry:1" },
  ...{ ...active("2027-03-01"), ...listed },
});
const exclusionsFile = (cutDate: string, exclusions: ExclusionsPart["exclusions"] = []): ExclusionsPart => ({
  ...{ origin: "sam_gov_exclusions", date: new Date(`${cutDate}T00:00:00Z`), load: "exclusions:1" },
  ...{ flagged: false, exclusions },
});
const api = (moment: string, expiration_date: string): Parts => {
  const source = { origin: "sam_gov_api", date: new Date(moment), load: "" };
  return {
    registration: { ...source, ...active(expiration_date) },
    exclusions: { ...source, flagged: false, exclusions: [] },
  };
};
const excluded = (active_date: string, termination_date: string): ExclusionsPart["exclusions"] => [
  { program: "Reciprocal", type: "Ineligible", agency: "GSA", active_date, termination_date },
];

function answer(parts: Parts, moment: string, isLaterRun = false): string {
  const knowledge = { kept: undefined, wasParked: false };
  const run = { usableUntil: (part: PartSource) => usableUntil(part, knowledge), asksExclusions: false };
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
  const nextDay = next.slice(0, 10);
  const before = (count: number) => new Date(Date.parse(day) - count * 86_400_000).toISOString().slice(0, 10);

  test("a registration that expires is active until then, by the API and by files", () => {
    const files = { registration: extract("2026-06-07", { expiration_date: day }), exclusions: exclusionsFile(day) };
    for (const parts of [api(`${day}T20:00:00Z`, day), files]) {
      for (const moment of [`${day}T23:00:00Z`, `${nextDay}T00:00:00Z`, `${nextDay}T01:30:00Z`, last])
        expect(answer(parts, moment)).toBe("pass");
      expect(answer(parts, next)).toBe("stale_source");
    }
    expect(answer(api(last, day), last)).toBe("pass");
    expect(answer(api(next, day), next)).toBe("fail expired");
  });

  test("an exclusion that ends is in force until then, and one that begins is not", () => {
    const during = (first: string, end: string) => ({
      registration: extract("2026-06-07", { expiration_date: "2099-01-01" }),
      exclusions: exclusionsFile(day, excluded(first, end)),
    });
    expect(answer(during("2020-01-01", day), last)).toBe("fail excluded");
    expect(answer(during("2020-01-01", day), next)).toBe("pass");
    expect(answer(during(nextDay, "indefinite"), last)).toBe("pass");
    expect(answer(during(nextDay, "indefinite"), next)).toBe("fail excluded");
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
