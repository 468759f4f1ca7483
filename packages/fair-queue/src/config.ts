import { count } from "@vvs/config";

/** Variables of a process's queue of calls. */
export const callsSection = {
  /** Number of calls that run at the same time in this process; further ones wait in the fair queue. */
  CALL_SEATS: count(1).default(32),
};
