import { describe, expect, test } from "@jest/globals";
import type { QuestionKind } from "../questions/question.ts";
import { freshPriorities } from "../questions/watch-frequency.ts";
import { nextCall, type PlannedQuestion } from "./planning.ts";

const now = new Date("2026-11-22T12:00:00Z");
const MINUTE_MS = 60_000;

/** Returns `count` questions that have waited for `minutes`. */
function waiting(count: number, { minutes = 0, priority = 1, exclusions = false } = {}): PlannedQuestion[] {
  const wanted_at = new Date(now.getTime() - minutes * MINUTE_MS);
  return Array.from({ length: count }, (_, index) => ({
    _id: `uei:${index}`,
    priority,
    wanted_at,
    turn: wanted_at,
    asks_exclusions: exclusions,
  }));
}

function plan(
  kinds: Partial<Record<QuestionKind, PlannedQuestion[]>>,
  callsLeft?: number,
  { at = now, freshCallsLeft }: { at?: Date; freshCallsLeft?: number } = {},
): string {
  const questions = new Map(Object.entries(kinds)) as Map<QuestionKind, PlannedQuestion[]>;
  const next = nextCall(questions, { now: at, gatherMs: 10 * MINUTE_MS, callsLeft, freshCallsLeft });
  return "waitMs" in next ? `wait ${next.waitMs / MINUTE_MS}` : `${next.questions.length} ${next.kind}`;
}

describe("a call", () => {
  test.each<[string, Partial<Record<QuestionKind, PlannedQuestion[]>>, string]>([
    ["starts when it is full", { registered: waiting(100) }, "100 registered"],
    ["waits for more", { registered: waiting(99, { minutes: 6 }) }, "wait 4"],
    ["starts when a question has waited long enough", { registered: waiting(3, { minutes: 10 }) }, "3 registered"],
    [
      "waits longer for known answers that are asked for again",
      { registered: waiting(3, { minutes: 59, priority: 2 }) },
      "wait 1",
    ],
    [
      "starts when one of those has waited long enough",
      { registered: waiting(3, { minutes: 60, priority: 2 }) },
      "3 registered",
    ],
    [
      "takes the questions along that have come since",
      { absent: [...waiting(1, { minutes: 10 }), ...waiting(4, { priority: 2 })] },
      "5 absent",
    ],
    ["is looked for again after five minutes at most", { registered: waiting(1) }, "wait 5"],
    ["is not made without questions", {}, "wait 5"],
    ["asks single questions one by one", { single: waiting(7, { minutes: 11 }) }, "1 single"],
    [
      "is first the one with the most urgent question",
      { registered: waiting(100, { priority: 2, minutes: 90 }), absent: waiting(1, { minutes: 10 }) },
      "1 absent",
    ],
    [
      "is first the one that has waited longest among equally urgent ones",
      { registered: waiting(100, { minutes: 11 }), absent: waiting(100, { minutes: 12 }) },
      "100 absent",
    ],
  ])("%s", (_name, kinds, expected) => {
    expect(plan(kinds)).toBe(expected);
  });

  test.each([
    ["all that fit", 11, "100 registered"],
    ["fewer vendors", 10, "90 registered"],
    ["ten vendors at least, beside the call for those without a registration", 2, "10 registered"],
    ["none, and waits", 1, "wait 5"],
    ["none, and waits", 0, "wait 5"],
  ])("with few calls left asks %s", (_name, callsLeft, expected) => {
    expect(plan({ registered: waiting(100) }, callsLeft)).toBe(expected);
  });

  test("keeps two calls for exclusions where they are asked for", () => {
    expect(plan({ registered: waiting(100, { exclusions: true }) }, 11)).toBe("80 registered");
  });

  test("waits for the next UTC day only until it begins", () => {
    expect(plan({ registered: waiting(100) }, 0, { at: new Date("2026-11-22T23:58:00Z") })).toBe("wait 2");
  });

  const fresh = (count: number, minutes: number) => waiting(count, { minutes, priority: freshPriorities.daily });

  test.each<[string, PlannedQuestion[], { freshCallsLeft: number; callsLeft?: number }, string]>([
    [
      "for vendors that no run waits for is made when it is full",
      fresh(100, 0),
      { freshCallsLeft: 11 },
      "100 registered",
    ],
    ["for them waits for others while their data is young enough", fresh(99, 40), { freshCallsLeft: 50 }, "wait 5"],
    ["for them is made before their data is too old", fresh(7, 45), { freshCallsLeft: 50 }, "7 registered"],
    ["for them costs no more than is left for them", fresh(100, 0), { freshCallsLeft: 5 }, "40 registered"],
    [
      "for them costs no more than is left for all",
      fresh(100, 0),
      { freshCallsLeft: 50, callsLeft: 4 },
      "30 registered",
    ],
    ["for a run takes them along", [...waiting(1), ...fresh(99, 0)], { freshCallsLeft: 11 }, "100 registered"],
    [
      "for runs leaves them out where none are left for them",
      [...waiting(50), ...fresh(50, 0)],
      { freshCallsLeft: 2 },
      "50 registered",
    ],
  ])("%s", (_name, registered, { callsLeft, freshCallsLeft }, expected) => {
    expect(plan({ registered }, callsLeft, { freshCallsLeft })).toBe(expected);
  });
});
