import { confirmedLast, type ScheduledRun } from "../confirmed/confirmation.ts";
import type { CheckedResult } from "../ui/verdict.ts";

/**
 * Returns a check of the registration whose newest result is an answer, with the checks of the vendor's monitors that found the
 * same since: they also saw what that answer rests on. Others as they are.
 */
export function withConfirmation<
  Result extends CheckedResult,
  History extends { newest: Result | undefined; answered: Result | undefined; check: string },
>(history: History, runs: readonly ScheduledRun[]): History {
  const { check, newest, answered } = history;
  if (check !== "sam_registration" || !newest || newest !== answered) return history;
  const same = confirmedLast(runs.filter(({ outcome }) => outcome === newest.result.status));
  if (!same || same.confirmation.lastAt <= newest.at) return history;
  const confirmed = { ...newest, confirmation: same.confirmation };
  return { ...history, newest: confirmed, answered: confirmed };
}
