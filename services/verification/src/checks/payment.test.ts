import { expect, test } from "@jest/globals";
import type { Doubt } from "@vvs/checks/decision";
import type { ResultDocument } from "../documents.ts";
import type { KnownExclusions } from "../providers/provider.ts";
import { overallResult } from "./overall-result.ts";
import { decisionOf } from "./payment.ts";

type Details = Partial<NonNullable<ResultDocument["details"]>>;
const at = new Date("2026-09-16T02:00:00Z");

const result = (check_type: ResultDocument["check_type"], status: ResultDocument["status"], details?: Details) =>
  ({ check_type, status, details: { ...details, data_as_of: at } }) as ResultDocument;
const sam = (status: ResultDocument["status"], details?: Details) => result("sam_registration", status, details);
const tin = (status: ResultDocument["status"], name?: string) => result("tin_match", status, name ? { name } : {});
const exclusion = (effect: "bar" | "product", active_date: string, termination_date: string) => ({
  exclusions: [{ program: "Reciprocal", type: "x", agency: "GSA", effect, active_date, termination_date }],
});

const SAME = {
  name: "ACME",
  program: "Reciprocal",
  type: "x",
  agency: "GSA",
  active_date: "",
  termination_date: "indefinite",
};
const none = undefined;
test.each<[string, ResultDocument[], string, boolean | undefined, string, boolean | undefined]>([
  ["no name is given", [sam("pass")], "", none, "pay", none],
  ["no name is given, and a check fails", [sam("pass"), tin("fail")], "", none, "hold", none],
  ["no name is given, and a check has no answer", [sam("pass"), tin("error")], "", none, "review", none],
  ["the registry's name agrees", [sam("pass")], "Acme", true, "pay", true],
  ["the registry has another name", [sam("pass")], "Acme", false, "review", false],
  [
    "the registry has another name, and the TIN matches",
    [sam("pass"), tin("pass", "Acme")],
    "Acme",
    false,
    "review",
    false,
  ],
  ["the registry's name agrees, and a check fails", [sam("fail")], "Acme", true, "hold", true],
  ["only the IRS knows the vendor", [sam("pass"), tin("pass", "Acme")], "Acme", none, "pay", true],
  ["nobody looked at exclusions", [tin("pass", "Acme")], "Acme", none, "review", true],
  [
    "no name is given, and the IRS matched another name than the registered one",
    [sam("pass", { legal_name: "LORWIN" }), tin("pass", "Acme")],
    "",
    none,
    "review",
    none,
  ],
  [
    "no name is given, and the IRS matched the registered one",
    [sam("pass", { legal_name: "O'BRIEN & SONS, INC." }), tin("pass", "OBrien & Sons Inc")],
    "",
    none,
    "pay",
    none,
  ],
  [
    "the IRS was sent the name without signs",
    [sam("pass"), tin("pass", "OBrien & Sons Inc")],
    "O'Brien & Sons, Inc.",
    none,
    "pay",
    true,
  ],
  ["the IRS matched another name", [tin("pass", "Lorwin")], "Acme", none, "review", none],
  ["the IRS did not match", [tin("fail", "Acme")], "Acme", none, "hold", none],
  ["which name matched is unknown", [tin("pass")], "Acme", none, "review", none],
  ["nothing knows the name", [sam("pass")], "Acme", none, "review", none],
  ["the answer has the name", [sam("pass", { legal_name: "ACME, INC." })], "Acme Inc", none, "pay", true],
  ["the answer has another name", [sam("pass", { legal_name: "ACME EAST" })], "Acme", none, "review", none],
  [
    "the answer has another name than the IRS",
    [sam("pass", { legal_name: "LORWIN" }), tin("pass", "Acme")],
    "Acme",
    none,
    "review",
    none,
  ],
  ["the names are only signs", [sam("pass", { legal_name: "???" })], "!!!", none, "review", none],
  [
    "products are restricted",
    [sam("pass", exclusion("product", "2026-01-01", "indefinite"))],
    "",
    none,
    "review",
    none,
  ],
  ["the registration ends today", [sam("pass", { expiration_date: "2026-09-15" })], "", none, "pay", none],
  ["the registration has ended", [sam("pass", { expiration_date: "2026-09-14" })], "", none, "review", none],
  ["the registration had ended", [sam("fail", { expiration_date: "2026-09-14" })], "", none, "hold", none],
  ["an exclusion is in force", [sam("fail", exclusion("bar", "2026-01-01", "indefinite"))], "", none, "hold", none],
  [
    "whether an exclusion without identifiers bears the name is unknown",
    [sam("pass", { same_name_unknown: true })],
    "",
    none,
    "review",
    none,
  ],
  ["an exclusion without identifiers bears the name", [sam("pass", { same_name: [SAME] })], "", none, "review", none],
  [
    "one bears it, and the name agrees",
    [sam("pass", { same_name: [SAME] }), tin("pass")],
    "Acme",
    true,
    "review",
    true,
  ],
  ["one bears it, and a check fails", [sam("pass", { same_name: [SAME] }), tin("fail")], "", none, "hold", none],
  // 02:00 UTC is the day before in Washington.
  [
    "a restriction ends today",
    [sam("pass", exclusion("product", "2026-01-01", "2026-09-15"))],
    "",
    none,
    "review",
    none,
  ],
  ["a restriction has ended", [sam("pass", exclusion("product", "2026-01-01", "2026-09-14"))], "", none, "pay", none],
  [
    "a restriction begins later",
    [sam("pass", exclusion("product", "2026-09-16", "indefinite"))],
    "",
    none,
    "pay",
    none,
  ],
])("where %s", (_name, results, givenName, nameAgrees, decision, name_agrees) => {
  const overall_result = overallResult(results.map(({ status }) => status));
  const decided = decisionOf({ verification: { overall_result, results, created_at: at }, nameAgrees, givenName });
  const { doubts, ...rest } = decided;
  expect(rest).toEqual({
    decision,
    ...(givenName && { given_name: givenName }),
    ...(name_agrees !== undefined && { name_agrees }),
  });
  if (decision !== "hold") expect(doubts.length > 0).toBe(decision === "review");
});

test.each<[string, string, boolean, string, boolean | undefined]>([
  ["the file's name", "Acme", true, "review", none],
  ["the answer's name", "Lorwin Inc", false, "pay", true],
  ["another name", "Kestrel", false, "review", false],
])(
  "where the answer has another name than the file: a vendor is called by %s",
  (_name, givenName, nameAgrees, ...expected) => {
    const verification = {
      overall_result: "pass",
      results: [sam("pass", { legal_name: "LORWIN, INC." })],
      created_at: at,
    } as const;
    const { decision, name_agrees } = decisionOf({ verification, nameAgrees, givenName, entityName: "ACME" });
    expect([decision, name_agrees]).toEqual(expected);
  },
);

test.each<[KnownExclusions, ResultDocument[], Doubt[]]>([
  [{ isExcluded: false, sameName: "none" }, [tin("pass")], []],
  [{ isExcluded: true, sameName: "none" }, [tin("pass")], ["exclusion"]],
  [{ isExcluded: undefined, sameName: "unknown" }, [tin("pass")], ["exclusions_unknown", "same_name_unknown"]],
  [{ isExcluded: false, sameName: "found" }, [sam("pass")], ["same_name"]],
  [{ isExcluded: undefined, sameName: "none" }, [sam("pass", { same_name: [SAME] })], ["exclusions_unknown"]],
  [
    { isExcluded: false, sameName: "none" },
    [sam("pass", exclusion("product", "2026-01-01", "indefinite"))],
    ["exclusion"],
  ],
])("where the files say %j of %j", (exclusions, results, doubts) => {
  const verification = { overall_result: overallResult(results.map(({ status }) => status)), results, created_at: at };
  expect(decisionOf({ verification, givenName: "", exclusions }).doubts).toEqual(doubts);
});
