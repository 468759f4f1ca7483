import { describe, expect, test } from "@jest/globals";
import { effectInForce, isExcluded } from "./debarred.ts";
import type { ExclusionEffect } from "./exclusion-effect.ts";
import type { Exclusion } from "./parts.ts";

const exclusion = {
  program: "Reciprocal",
  type: "Ineligible",
  agency: "GSA",
  active_date: "2026-11-01",
  termination_date: "indefinite",
};

describe("an exclusion is in force", () => {
  const of = (active_date: string, termination_date: string) => ({
    flagged: false,
    exclusions: [{ ...exclusion, active_date, termination_date }],
  });
  test.each([
    ["from its first day", of("2026-11-22", "indefinite"), true],
    ["not before", of("2026-11-23", "indefinite"), false],
    ["if it has no first day", of("", "2027-01-01"), true],
    ["until its last day", of("", "2026-11-22"), true],
    ["not after", of("", "2026-11-21"), false],
    ["if it has no days", { flagged: false, exclusions: [{}] }, true],
    ["if the source flags it", { ...of("", "2026-11-21"), flagged: true }, true],
  ])("%s", (_name, part, expected) => {
    expect(effectInForce(part, "2026-11-22")).toBe(expected ? "bar" : undefined);
  });
});

describe("the strongest effect in force", () => {
  const of = (effect: ExclusionEffect | undefined, begin = "2026-11-01", end = "indefinite"): Exclusion => ({
    ...exclusion,
    active_date: begin,
    termination_date: end,
    ...(effect && { effect }),
  });
  test.each<[string, Exclusion[], string | undefined, boolean]>([
    ["is none without exclusions", [], undefined, false],
    ["of a restriction of products excludes nobody", [of("product")], "product", false],
    ["is the facility's", [of("product"), of("facility")], "facility", true],
    ["is the bar", [of("facility"), of("bar"), of("product")], "bar", true],
    ["counts an exclusion that was stored without one as a bar", [of("product"), of(undefined)], "bar", true],
    ["does not count a bar that has not begun", [of("product"), of("bar", "2026-11-23")], "product", false],
    ["does not count a bar that has ended", [of("facility"), of("bar", "", "2026-11-21")], "facility", true],
  ])("%s", (_name, exclusions, effect, excluded) => {
    const part = { origin: "sam_gov_api", date: new Date("2026-11-22"), load: "", flagged: false, exclusions };
    expect(effectInForce(part, "2026-11-22")).toBe(effect);
    expect(isExcluded(part, "2026-11-22")).toBe(excluded);
  });
});
