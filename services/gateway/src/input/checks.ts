import { toCheckType } from "@vvs/checks";
import { z } from "@vvs/config";
import { checkType } from "../render/values-schema.ts";

export const MAX_CHECKS = 10;

/** Accepts one or more checks and keeps their order. Duplicates are removed. */
export const checks = z
  .array(checkType)
  .min(1, "must not be empty")
  .max(MAX_CHECKS, `must have at most ${MAX_CHECKS} entries`)
  .transform((names) => [...new Set(names)].map(toCheckType))
  .meta({ description: "The checks, in the order of the results. Duplicates count once." });
