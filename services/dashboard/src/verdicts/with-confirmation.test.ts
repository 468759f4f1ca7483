import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { expect, test } from "@jest/globals";
import { CheckStatus, CheckType } from "@vvs/proto/common/v1/common";
import { ConfirmedRunSchema } from "@vvs/proto/monitor/v1/monitor";
import { ResultSchema } from "@vvs/proto/verification/v1/verification";
import { withConfirmation } from "./payment.ts";
import type { ScheduledRun } from "./read-confirmed.ts";
import type { CheckedResult } from "./verdict.ts";

const { PASS, FAIL, ERROR } = CheckStatus;
const day = (number: number) => new Date(Date.UTC(2026, 9, number));
const made = (status: CheckStatus, at: Date): CheckedResult => ({
  result: create(ResultSchema, { checkType: CheckType.SAM_REGISTRATION, status }),
  at,
});
const runOf = (outcome: CheckStatus, lastAt: Date | undefined) =>
  create(ConfirmedRunSchema, { outcome, ...(lastAt && { confirmed: { lastAt: timestampFromDate(lastAt) } }) });
const confirmedAt = (newest: ReturnType<typeof made>, ...runs: ScheduledRun[]) =>
  withConfirmation({ check: "sam_registration", newest, answered: newest }, runs).newest.confirmedBy?.confirmed.lastAt;

test("an answer is confirmed by the last scheduled check that found the same after it", () => {
  expect(confirmedAt(made(PASS, day(1)), runOf(PASS, day(4)), runOf(PASS, day(6)))).toEqual(timestampFromDate(day(6)));
  // A direct call after the monitor’s run: the scheduled checks since saw what it was answered from.
  expect(confirmedAt(made(PASS, day(3)), runOf(PASS, day(6)))).toEqual(timestampFromDate(day(6)));
});

test("an answer is not confirmed by earlier checks, by those that found something else, and by none", () => {
  expect(confirmedAt(made(PASS, day(5)), runOf(PASS, day(4)))).toBeUndefined();
  expect(confirmedAt(made(PASS, day(1)), runOf(FAIL, day(4)))).toBeUndefined();
  expect(confirmedAt(made(PASS, day(1)), runOf(PASS, undefined))).toBeUndefined();
});

test("an error is not confirmed, and neither is the answer before it, nor another check", () => {
  const [newest, answered] = [made(ERROR, day(3)), made(PASS, day(1))];
  const history = { check: "sam_registration", newest, answered };
  expect(withConfirmation(history, [runOf(PASS, day(6))])).toBe(history);
  const tinMatch = { check: "tin_match", newest: answered, answered };
  expect(withConfirmation(tinMatch, [runOf(PASS, day(6))])).toBe(tinMatch);
});
