import { expect, test } from "@jest/globals";
import { checkNames, toCheckType } from "@vvs/checks";
import { type Situation, toDoList } from "./to-do.ts";

const checks = checkNames.map(toCheckType);
const well: Situation = {
  vendors: { excluded: 0, failed: 0, error: 0, expiring30: 0, registrationEnded: 0 },
  failingEndpoints: 0,
  unanswered: { count: 0, hasMore: false },
  providers: [{ name: "sam_gov_api", checks, state: "available" }],
  budgets: [{ provider: "sam_gov_api", directLeft: 10, monitorsLeft: 10 }],
};
const unknown: Situation = {
  vendors: undefined,
  failingEndpoints: undefined,
  unanswered: undefined,
  providers: undefined,
  budgets: undefined,
};

test.each<[string, Partial<Situation>, string[]]>([
  ["all is well", {}, []],
  ["nothing is known", unknown, []],
  [
    "vendors need attention",
    { vendors: { excluded: 1, failed: 2, error: 1_000, expiring30: 1, registrationEnded: 2 } },
    [
      "1 vendor is excluded by SAM.gov → /vendors?show=excluded",
      "2 vendors have failed a check → /vendors?show=failed",
      "1,000 vendors or more have no answer from the newest verification → /vendors?show=error",
      "2 vendors have registrations that have ended → /vendors?show=expired",
      "1 vendor has a registration that expires within 30 days → /vendors?show=expiring-30",
    ],
  ],
  [
    "a monitor has no answer",
    { unanswered: { count: 1, hasMore: false } },
    ["1 monitor has had no answer for too long → /monitors?outcome=unanswered"],
  ],
  [
    "many monitors have no answer",
    { unanswered: { count: 100, hasMore: true } },
    ["100 monitors or more have had no answer for too long → /monitors?outcome=unanswered"],
  ],
  [
    "endpoints fail",
    { failingEndpoints: 1_204 },
    ["1,204 webhook endpoints do not accept events → /webhooks#endpoints"],
  ],
  [
    "no provider is set up for a check",
    { providers: [{ name: "sam_gov_api", checks: [toCheckType("sam_registration")], state: "available" }] },
    ["No provider is set up for the check “TIN match”, so it gets no answer → /providers#tin_match"],
  ],
  [
    "a provider does not answer",
    { providers: [{ name: "sam_gov_api", checks, state: "unavailable" }] },
    ["SAM.gov API does not answer → /providers"],
  ],
  [
    "a provider's files are too old",
    { providers: [{ name: "sam_gov_extract", checks, state: "unavailable", outdated: true }] },
    ["SAM.gov extract files: the data is too old for an answer → /providers"],
  ],
  [
    "a provider's quota is used up",
    { providers: [{ name: "sam_gov_api", checks, state: "unavailable", quotaRemaining: 0n }] },
    ["SAM.gov API has no calls left today for the API and the dashboard, for any customer → /providers"],
  ],
  [
    "a budget is spent",
    { budgets: [{ provider: "sam_gov_api", directLeft: 0, monitorsLeft: 5 }] },
    ["Your calls to SAM.gov API for the API and the dashboard are used up until midnight UTC → /usage#provider-usage"],
  ],
])("if %s, the list says so, each with one action", (_name, changes, expected) => {
  const list = toDoList({ ...well, ...changes });
  expect(list.map(({ text, path }) => `${text} → ${path}`)).toEqual(expected);
  expect(list.every(({ action }) => action !== "")).toBe(true);
});
