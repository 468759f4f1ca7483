import { ApiError, VendorVerificationError } from "@vendor-verification/client";
import { exitCodeOf, exitCodes } from "./exit-codes.ts";

/** Option of commands that create something. */
export const idempotencyOption = {
  "idempotency-key": {
    value: "KEY",
    does: "Repeat a command whose outcome is unknown, with the key that it printed: it takes effect only once. Kept for 24 hours.",
  },
};

/** Returns the key with which to repeat a call if it is unknown whether it took effect. */
export function keyToRepeat(error: unknown): string | undefined {
  const isUnknown = exitCodeOf(error) === exitCodes.unavailable;
  // An earlier attempt of the same call may still be running.
  const isRunning = error instanceof ApiError && error.code === "idempotency_conflict";
  return error instanceof VendorVerificationError && (isUnknown || isRunning) ? error.idempotencyKey : undefined;
}
