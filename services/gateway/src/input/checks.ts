import { checkNames, toCheckType } from "@vvs/checks";
import { z } from "@vvs/config";

const MAX_CHECKS = 10;

/** Accepts one or more checks and keeps their order. Duplicates are removed. */
export const checks = z
  .array(z.enum(checkNames))
  .min(1, "must not be empty")
  .max(MAX_CHECKS, `must have at most ${MAX_CHECKS} entries`)
  .transform((names) => [...new Set(names)].map(toCheckType));
