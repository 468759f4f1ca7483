import { expect, test } from "@jest/globals";
import type { Environment } from "@vvs/tenant";
import type { ResultDocument } from "./documents.ts";
import { type KeptVerification, keptUntil } from "./kept-until.ts";

const DAY_MS = 86_400_000;
const days = { lasting: 2_557, repeated: 400, sandboxRuns: 14, least: 0 };
const created_at = new Date("2026-11-26T12:00:00Z");

function daysOf(
  statuses: readonly ResultDocument["status"][],
  how: Partial<KeptVerification>,
  environment: Environment,
) {
  const results = statuses.map((status) => ({ status }) as ResultDocument);
  const overall_result = statuses.includes("fail") ? "fail" : statuses.includes("error") ? "error" : "pass";
  const verification = { mode: "realtime", overall_result, results, created_at, ...how } as const;
  return (keptUntil(verification, environment, days).getTime() - created_at.getTime()) / DAY_MS;
}

const run = (run_seq: number) => ({ run: { monitor_id: "mon_1", run_seq } });
const cached = { mode: "cached" } as const;

test.each<[string, ResultDocument["status"][], Partial<KeptVerification>, number]>([
  ["a realtime call", ["pass"], {}, 2_557],
  ["a realtime call with one answer", ["pass", "error"], {}, 2_557],
  ["a realtime call without an answer", ["error", "error"], {}, 400],
  ["a cached call", ["pass"], cached, 400],
  ["a cached call that failed", ["fail"], cached, 2_557],
  ["a monitor's first run", ["pass"], run(1), 2_557],
  ["a monitor's first run without an answer", ["error"], run(1), 400],
  ["a later run that passed", ["pass"], run(2), 400],
  ["a later run that failed", ["fail"], run(2), 2_557],
  ["a later run that failed beside an error", ["fail", "error"], run(2), 2_557],
])("%s is kept for its time", (_name, statuses, how, expected) => {
  expect(daysOf(statuses, how, "live")).toBe(expected);
  expect(daysOf(statuses, how, "sandbox")).toBe(how.run ? 14 : expected);
});

test("the minimum number of days counts for all but the sandbox's runs", () => {
  const verification = { mode: "cached", overall_result: "pass", results: [], created_at } as const;
  const least = { ...days, least: 3_000 };
  expect(keptUntil(verification, "live", least)).toEqual(new Date(created_at.getTime() + 3_000 * DAY_MS));
  expect(keptUntil({ ...verification, ...run(2) }, "sandbox", least)).toEqual(
    new Date(created_at.getTime() + 14 * DAY_MS),
  );
});
