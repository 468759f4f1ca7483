import { describe, expect, test } from "@jest/globals";
import type { ExclusionPeriodDocument } from "./documents.ts";
import type { SamFacts } from "./facts.ts";
import { statusOf } from "./status.ts";

const facts = (set: Partial<SamFacts> = {}): SamFacts => ({
  sam_registered: true,
  listed_as: "active",
  expiration_date: "2027-05-01",
  excluded: false,
  ...set,
});
const inForce: ExclusionPeriodDocument[] = [{ active_date: "2020-01-01", termination_date: "indefinite" }];
const product: ExclusionPeriodDocument[] = [{ effect: "product" }];
const over: ExclusionPeriodDocument[] = [{ termination_date: "2026-11-20" }];

describe("registration status", () => {
  test.each<[string, SamFacts | undefined, ExclusionPeriodDocument[], string]>([
    ["an exclusion flag", facts({ excluded: true }), [], "debarred"],
    ["an exclusion in force", facts(), inForce, "debarred"],
    ["an exclusion comes before an expiration", facts({ expiration_date: "2020-01-01" }), inForce, "debarred"],
    ["an exclusion that is over", facts(), over, "active"],
    ["an exclusion of products only", facts(), product, "active"],
    ["an exclusion of one facility", facts(), [...product, { effect: "facility" }], "debarred"],
    [
      "never registered, although listed as active",
      facts({ sam_registered: false, expiration_date: undefined }),
      [],
      "inactive",
    ],
    ["active", facts(), [], "active"],
    ["active on its last day", facts({ expiration_date: "2026-11-21" }), [], "active"],
    ["a past date, although listed as active", facts({ expiration_date: "2026-11-20" }), [], "expired"],
    ["a past date, listed as inactive", facts({ listed_as: "inactive", expiration_date: "2020-01-01" }), [], "expired"],
    ["listed as expired", facts({ listed_as: "expired" }), [], "expired"],
    ["inactive with a future date", facts({ listed_as: "inactive" }), [], "inactive"],
    ["no facts", undefined, [], "inactive"],
    ["no facts, and an exclusion in force", undefined, inForce, "debarred"],
    ["active without a date", facts({ expiration_date: undefined }), [], "inactive"],
  ])("%s", (_, given, exclusions, expected) => {
    expect(statusOf({ sam: given, exclusions }, "2026-11-21")).toBe(expected);
  });

  test.each([
    ["active", []],
    ["debarred", inForce],
  ])("ignores the flag of an exclusion that has ended: %s", (expected, exclusions) => {
    const flagged = { sam: facts({ excluded: true }), exclusions, flag_ended: true };
    expect(statusOf(flagged, "2026-11-21")).toBe(expected);
  });
});
