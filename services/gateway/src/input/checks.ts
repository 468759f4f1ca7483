import { z } from "@vvs/config";
import { checkNames, checkTypes } from "../render/checks.ts";

const MAX_CHECKS = 10;

/** One or more checks, in the order asked, duplicates folded. */
export const checks = z
  .array(z.enum(checkNames))
  .min(1, "must not be empty")
  .max(MAX_CHECKS, `must have at most ${MAX_CHECKS} entries`)
  .transform((names) => [...new Set(names)].map((name) => checkTypes[name]));
