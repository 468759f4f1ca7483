import { describe, expect, test } from "@jest/globals";
import type { ExclusionPeriod } from "../registry-load/files/exclusion-row.ts";
import type { StatusFacts } from "./facts.ts";
import { registrationStatus } from "./status.ts";

const today = "2026-11-21";
const facts = (set: Partial<StatusFacts> = {}): StatusFacts => ({
  samRegistered: true,
  listedAs: "active",
  expirationDate: "2027-05-01",
  excluded: false,
  ...set,
});
const inForce: ExclusionPeriod[] = [{ activeDate: "2020-01-01", terminationDate: "indefinite" }];
const over: ExclusionPeriod[] = [{ terminationDate: "2026-11-20" }];

describe("registration status", () => {
  test.each<[string, StatusFacts, ExclusionPeriod[], string]>([
    ["an exclusion flag", facts({ excluded: true }), [], "debarred"],
    ["an exclusion in force", facts(), inForce, "debarred"],
    ["an exclusion comes before an expiration", facts({ expirationDate: "2020-01-01" }), inForce, "debarred"],
    ["an exclusion that is over", facts(), over, "active"],
    [
      "never registered, though called active",
      facts({ samRegistered: false, expirationDate: undefined }),
      [],
      "inactive",
    ],
    ["active", facts(), [], "active"],
    ["active on its last day", facts({ expirationDate: today }), [], "active"],
    ["a past date, though called active", facts({ expirationDate: "2026-11-20" }), [], "expired"],
    ["a past date, called inactive", facts({ listedAs: "inactive", expirationDate: "2020-01-01" }), [], "expired"],
    ["called expired", facts({ listedAs: "expired" }), [], "expired"],
    ["inactive with a date to come", facts({ listedAs: "inactive" }), [], "inactive"],
    ["active without a date", facts({ expirationDate: undefined }), [], "inactive"],
  ])("%s", (_, given, exclusions, expected) => {
    expect(registrationStatus(given, exclusions, today)).toBe(expected);
  });
});
