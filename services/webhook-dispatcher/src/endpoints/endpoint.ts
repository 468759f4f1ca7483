import { hash } from "node:crypto";
import type { AttemptError, Delivery } from "../model/delivery.ts";

/** One URL of one organization and how it answers: shown to people, and read by the circuit that all replicas share. */
export interface Endpoint {
  /** endpointId() of the next two fields. */
  readonly _id: string;
  readonly organization_id: string;
  readonly url: string;
  /** Time of the first failure since the last success; null after a success. */
  readonly failing_since: Date | null;
  readonly consecutive_failures: number;
  /** Updated at most once a minute while the endpoint is healthy. */
  readonly last_success_at: Date | null;
  readonly last_failure_at: Date | null;
  readonly last_error: AttemptError | null;
  /** Of the last failure. */
  readonly last_status_code: number | null;
  /** Time of the first 410 answer since the last success. */
  readonly gone_at: Date | null;
  /** When a user dismissed it; absent or null: nobody has since the last success. */
  readonly dismissed_at?: Date | null;
  readonly circuit: Circuit;
  /** Revision: a change is stored only over the revision that it was made from. */
  readonly rev: number;
  /** Id of the replica that stored this revision: of two that stored the same change, it says which one succeeded. */
  readonly rev_by?: string;
  /** Time of the last change. Attempts change it at least once a minute, so it expires by this time. */
  readonly updated_at: Date;
}

/** How much is sent to an endpoint. */
export type Circuit =
  | { readonly state: "closed" }
  /** It fails and gets one attempt at a time, a probe. The next may begin at `probe_at`; a claimed probe moves it on. */
  | { readonly state: "open"; readonly probe_at: Date; readonly failed_probes: number }
  /** It answers again: the number of attempts doubles every second. */
  | { readonly state: "ramp"; readonly step: number; readonly step_at: Date };

/** The fields that identify an endpoint. */
export type EndpointIdentity = Pick<Endpoint, "_id" | "organization_id" | "url">;

/** The fields of a delivery that say where it goes. */
export type Destination = Pick<Delivery, "endpoint_id" | "webhook_url">;

/** Returns the id of an organization's URL: sha256 in hex. */
export function endpointId(organizationId: string, url: string): string {
  return hash("sha256", `${organizationId}\n${url}`, "hex");
}

/** Returns the fields that send an organization's delivery to a URL. */
export function destinationOf(organizationId: string, url: string): Destination {
  return { webhook_url: url, endpoint_id: endpointId(organizationId, url) };
}

/** Returns the endpoint that a delivery goes to. */
export function endpointOf(delivery: Destination & Pick<Delivery, "organization_id">): EndpointIdentity {
  return { _id: delivery.endpoint_id, organization_id: delivery.organization_id, url: delivery.webhook_url };
}
