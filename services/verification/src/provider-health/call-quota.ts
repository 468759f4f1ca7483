import { createShares } from "@vvs/mongo";
import { RESERVE_PERCENT } from "@vvs/registration";
import type { CallClass } from "../providers/call-class.ts";

/** HTTP calls by class. */
export type CallCounts = Readonly<Record<CallClass, number>>;

/** How the classes share a day's quota. */
export const callQuota = createShares<CallClass>({ first: 0, ...RESERVE_PERCENT });

/** Calls of a full question: its pages, one for ids without a registration, and two for exclusions. */
const FULL_CALLS = 13;

/**
 * Returns how many calls may still be made today only to keep data fresh: what is left of the reserve of runs, without
 * `heldForRuns`, which runs are expected to need today. 0 where that is too little for a full question (or half of a small
 * quota's reserve), as smaller ones cost more calls for each vendor.
 */
export function freshCallsLeft(calls: CallCounts, heldForRuns: number, quota: number): number {
  const reserve = callQuota.reserveOf("runs", quota);
  const left = Math.min(callQuota.left(calls, "runs", quota), reserve - calls.runs - Math.ceil(heldForRuns));
  return left < Math.min(FULL_CALLS, reserve / 2) ? 0 : left;
}
