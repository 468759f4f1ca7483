import { expect, test } from "@jest/globals";
import type { Exclusion } from "@vvs/registration";
import { registrationDetails } from "./result-details.ts";

const source = { origin: "sam_gov_api", date: new Date("2026-11-21T10:00:00Z"), load: "" };
const exclusion: Exclusion = {
  program: "Reciprocal",
  type: "Ineligible",
  agency: "GSA",
  active_date: "2026-11-01",
  termination_date: "indefinite",
};
const none = { exclusions: { ...source, flagged: false, exclusions: [] } };

test.each([
  [
    "all facts",
    { legal_name: "ACME LLC", cage: "1AB23" },
    none,
    { legal_name: "ACME LLC", cage: "1AB23", exclusions: [] },
  ],
  [
    "no fact that there is none of",
    { legal_name: "ACME LLC", cage: "" },
    none,
    { legal_name: "ACME LLC", exclusions: [] },
  ],
  [
    "the exclusions",
    { registration_status: "debarred" },
    { exclusions: { ...source, flagged: true, exclusions: [exclusion] } },
    { registration_status: "debarred", exclusions: [exclusion] },
  ],
  [
    "no exclusions where the source does not know them",
    { registration_status: "expired" },
    {},
    { registration_status: "expired" },
  ],
])("the details of a registration show %s", (_what, facts, parts, details) => {
  expect(registrationDetails(facts, parts)).toEqual(details);
});
