import { expect, test } from "@jest/globals";
import type { JobResult } from "@vendor-verification/client";
import { resultsOf } from "./results.ts";

const list = { rows: [{ number: 2, cells: [], vendor: { legal_name: "A" }, problems: [] }] };
const reasonsOf = (result: object) =>
  resultsOf(list, { id: "job_1", file_rows: false }, [{ row: 1, ...result } as JobResult])[0]!.reasons;
const verified = (reason?: string) => ({ verification: { results: [{ reason }, {}] } });

test.each([
  ["a failed check", { outcome: "fail", decision: "hold", ...verified("expired") }, ["expired"]],
  [
    "another name",
    { outcome: "pass", decision: "review", name_agrees: false, doubts: ["other_name"], ...verified() },
    ["other_name"],
  ],
  [
    "an exclusion that fails nothing",
    { outcome: "pass", decision: "review", doubts: ["exclusion", "same_name"], ...verified() },
    ["exclusion", "same_name"],
  ],
  [
    "problems",
    {
      outcome: "invalid",
      decision: "review",
      problems: [
        { path: "row", message: "No entity matches." },
        { path: "tin", message: "is odd" },
      ],
    },
    ["No entity matches.", "tin is odd"],
  ],
  ["nothing", { outcome: "pass", decision: "pay", name_agrees: true, ...verified() }, []],
])("the reasons of a row with %s", (_what, result, reasons) => {
  expect(reasonsOf(result)).toEqual(reasons);
});
