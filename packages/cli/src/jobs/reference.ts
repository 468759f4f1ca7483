import { scryptSync } from "node:crypto";
import type { CreateJobRequest } from "@vendor-verification/client";

/**
 * Returns what `--job` takes: the id of a job, and a digest of its vendors in their order. Results name their row by its number
 * only, so the digest proves that a file still has the rows that the job was started with.
 */
export function jobReference(id: string, vendors: CreateJobRequest["vendors"]): string {
  // Slow to compute, so that the digest does not give away the TIN of a list with one vendor.
  return `${id}.${scryptSync(JSON.stringify(vendors), id, 9).toString("base64url")}`;
}
