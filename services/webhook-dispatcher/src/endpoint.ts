import { hash } from "node:crypto";
import type { AttemptError } from "./delivery.ts";

/**
 * One URL of one organization, and how it answers: for people, and for the circuit that all replicas share. Failing for
 * people is what has failed without a break for a day, or said 410.
 */
export interface Endpoint {
  /** endpointId() of the two that follow. */
  readonly _id: string;
  readonly organization_id: string;
  readonly url: string;
  /** The first failure of the present unbroken row of failures. */
  readonly failing_since: Date | null;
  readonly consecutive_failures: number;
  /** To the minute while it is well. */
  readonly last_success_at: Date | null;
  readonly last_failure_at: Date | null;
  readonly last_error: AttemptError | null;
  readonly last_status_code: number | null;
  /** It answered 410 since its last success. */
  readonly gone_at: Date | null;
  readonly circuit: Circuit;
  /** Counts changes, so that none is laid over one that was not seen. */
  readonly rev: number;
  /** Whose change the last one is: of two who make the same one at once, one must know that it was not theirs. */
  readonly rev_by?: string;
  readonly updated_at: Date;
}

/** How much is sent to an endpoint. */
export type Circuit =
  | { readonly state: "closed" }
  /** It fails: one attempt at a time, as a probe, not before `probe_at`; while one is made, that is when its claim ends. */
  | { readonly state: "open"; readonly probe_at: Date; readonly failed_probes: number }
  /** It answers again: each second twice as much as in the one before. */
  | { readonly state: "ramp"; readonly step: number; readonly step_at: Date };

/** The key of an organization's URL: sha256 in hex. */
export function endpointId(organizationId: string, url: string): string {
  return hash("sha256", `${organizationId}\n${url}`, "hex");
}
