import { RESERVE_PERCENT } from "@vvs/registration";
import { type CallClass, callClasses } from "../providers/call-class.ts";

/** HTTP calls by class. */
export type CallCounts = Readonly<Record<CallClass, number>>;

/** Share of a day's quota that is kept for a class, in per cent; the rest is for whoever comes. */
const reservedPercent: CallCounts = { first: 0, ...RESERVE_PERCENT };

/** Returns how many calls of a day's quota are kept for a class. */
export function reserveOf(callClass: CallClass, quota: number): number {
  return Math.floor((quota * reservedPercent[callClass]) / 100);
}

/** Returns how many calls a class may still make: what is left of the quota without the unspent reserves of the others. */
export function callsLeft(calls: CallCounts, callClass: CallClass, quota: number): number {
  const taken = callClasses.map((each) =>
    each === callClass ? calls[each] : Math.max(calls[each], reserveOf(each, quota)),
  );
  return Math.max(0, quota - taken.reduce((sum, count) => sum + count, 0));
}

/** Calls of a full question: its pages, one for ids without a registration, and two for exclusions. */
const FULL_CALLS = 13;

/**
 * Returns how many calls may still be made today only to keep data fresh: what is left of the reserve of runs, without
 * `heldForRuns`, which runs are expected to need today. 0 where that is too little for a full question (or half of a small
 * quota's reserve), as smaller ones cost more calls for each vendor.
 */
export function freshCallsLeft(calls: CallCounts, heldForRuns: number, quota: number): number {
  const reserve = reserveOf("runs", quota);
  const left = Math.min(callsLeft(calls, "runs", quota), reserve - calls.runs - Math.ceil(heldForRuns));
  return left < Math.min(FULL_CALLS, reserve / 2) ? 0 : left;
}

/** Returns `callsLeft` as an expression over a document of counts; it may be below 0. */
export function callsLeftIn(callClass: CallClass, quota: number): object {
  const taken = callClasses.map((each) =>
    each === callClass ? `$${each}` : { $max: [`$${each}`, reserveOf(each, quota)] },
  );
  return { $subtract: [quota, { $add: taken }] };
}
