import { expect, test } from "@jest/globals";
import type { CheckStatus } from "@vvs/checks";
import { overallResult } from "./overall-result.ts";

test.each<[CheckStatus[], CheckStatus]>([
  [["pass"], "pass"],
  [["pass", "pass"], "pass"],
  [["pass", "error"], "error"],
  [["error", "fail"], "fail"],
  [["fail", "pass"], "fail"],
])("the overall result of %j is %s", (statuses, overall) => {
  expect(overallResult(statuses)).toBe(overall);
});
