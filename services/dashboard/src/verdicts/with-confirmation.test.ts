import { create } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { CheckStatus, CheckType } from "@vvs/proto/common/v1/common";
import { ResultSchema } from "@vvs/proto/verification/v1/verification";
import type { ScheduledRun } from "./confirmation.ts";
import { withConfirmation } from "./payment.ts";
import type { CheckedResult } from "./verdict.ts";

const { PASS, FAIL, ERROR } = CheckStatus;
const day = (number: number) => new Date(Date.UTC(2026, 9, number));
const made = (status: CheckStatus, at: Date): CheckedResult => ({
  result: create(ResultSchema, { checkType: CheckType.SAM_REGISTRATION, status }),
  at,
});
const runOf = (outcome: CheckStatus, fullCheckAt: Date, lastAt: Date | undefined): ScheduledRun => ({
  ...{ entityId: "ent_1", monitorId: "mon_1", verificationId: "ver_1", outcome, staleSince: undefined },
  confirmation: lastAt && { times: 1, lastAt, registration: undefined, exclusions: undefined, fullCheckAt },
});
const confirmedAt = (newest: ReturnType<typeof made>, ...runs: ScheduledRun[]) =>
  withConfirmation({ check: "sam_registration", newest, answered: newest }, runs).newest.confirmation?.lastAt;

test("an answer is confirmed by the last scheduled check that found the same after it", () => {
  expect(confirmedAt(made(PASS, day(1)), runOf(PASS, day(1), day(4)), runOf(PASS, day(1), day(6)))).toEqual(day(6));
  // A direct call after the monitor’s run: the scheduled checks since saw what it was answered from.
  expect(confirmedAt(made(PASS, day(3)), runOf(PASS, day(1), day(6)))).toEqual(day(6));
});

test("an answer is not confirmed by earlier checks, by those that found something else, and by none", () => {
  expect(confirmedAt(made(PASS, day(5)), runOf(PASS, day(1), day(4)))).toBeUndefined();
  expect(confirmedAt(made(PASS, day(1)), runOf(FAIL, day(1), day(4)))).toBeUndefined();
  expect(confirmedAt(made(PASS, day(1)), runOf(PASS, day(1), undefined))).toBeUndefined();
});

test("an error is not confirmed, and neither is the answer before it, nor another check", () => {
  const [newest, answered] = [made(ERROR, day(3)), made(PASS, day(1))];
  const history = { check: "sam_registration", newest, answered };
  expect(withConfirmation(history, [runOf(PASS, day(1), day(6))])).toBe(history);
  const tinMatch = { check: "tin_match", newest: answered, answered };
  expect(withConfirmation(tinMatch, [runOf(PASS, day(1), day(6))])).toBe(tinMatch);
});
