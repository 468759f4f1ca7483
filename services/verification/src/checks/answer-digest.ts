import { hash } from "node:crypto";
import { type Check, checkDefinitions } from "@vvs/checks";
import type { Answer } from "../providers/provider.ts";

/** Raise it when the code that judges answers changes: then all monitors are run again. */
const JUDGED_BY = 1;

/**
 * Returns a hash of the answer to a question without the dates of its data. Answers with the same one have the same status, reason
 * and facts, and were judged by the same version for the same watched fields.
 */
export function answerDigest(
  check: Check,
  fingerprint: string,
  { outcome, reason, facts }: Pick<Answer, "outcome" | "reason" | "facts">,
): Buffer {
  const { watchedFields } = checkDefinitions[check];
  const sorted = Object.entries(facts).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const content = [JUDGED_BY, watchedFields, fingerprint, outcome, reason, sorted];
  return hash("sha256", JSON.stringify(content), "buffer").subarray(0, 16);
}
