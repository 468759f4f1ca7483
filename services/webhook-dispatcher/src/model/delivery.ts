import type { FieldChange } from "@vvs/kafka";

/** Why an attempt failed. */
export type AttemptError = "http_status" | "timeout" | "connection" | "tls" | "address_refused";

/** The values of an attempt's two signature headers. */
export interface Signatures {
  /** X-Service-Signature. */
  readonly service: string;
  /** webhook-signature. */
  readonly standard: string;
}

/** One POST to a subscriber. */
export interface Attempt {
  readonly number: number;
  readonly started_at: Date;
  readonly duration_ms: number;
  readonly status_code?: number;
  readonly error?: AttemptError;
  /** The beginning of the answer, as text. */
  readonly answer_excerpt: string;
  /** What it was signed with; absent: made before signatures were kept. */
  readonly signatures?: Signatures;
}

/** A user's request to send the delivery again. */
export interface Replay {
  /** Id of the bulk replay that it belongs to; absent where the delivery was replayed by itself. */
  readonly id?: string;
  readonly at: Date;
  /** usr_…. */
  readonly actor: string;
}

/** Returns the id of an event's delivery. Test events are not delivered under it. */
export function deliveryId(eventId: string): string {
  return `dlv_${eventId.slice("evt_".length)}`;
}

/**
 * One event for one subscriber. The README draws its states.
 *
 * Code other than the engine that changes a pending delivery (a replay) must match on no `lease`, set `next_attempt_at`
 * and `due_at`, and unset `held`. A delivery that was not accepted from Kafka (a test event) has no `first_attempt_owed`.
 */
export interface Delivery {
  /** dlv_…; derived from the event's id, so that an event is delivered once, however often it is requested. */
  readonly _id: string;
  readonly organization_id: string;
  /** evt_…. */
  readonly event_id: string;
  readonly monitor_id: string;
  readonly run_seq: number;
  readonly entity_id: string;
  readonly verification_id: string;
  /** The organization's own number of the vendor, as the event has it; absent if there was none. */
  readonly external_id?: string;
  readonly webhook_url: string;
  /** Id of the organization's document for the URL, see endpoint.ts. */
  readonly endpoint_id: string;
  readonly changes: readonly FieldChange[];
  readonly detected_at: Date;
  readonly status: "pending" | "delivered" | "failed";
  readonly attempts: readonly Attempt[];
  /**
   * When the next attempt is made: `due_at`, or later while the delivery is held. While it is leased, the end of the
   * lease. Null: it is done, or blocked by the first attempt of an earlier event of the monitor.
   */
  readonly next_attempt_at: Date | null;
  /** When the next attempt is due by the schedule, even if it is held; unchanged once the last attempt has ended. */
  readonly due_at: Date;
  /** Held because its endpoint fails or is busy; attempted at `next_attempt_at` at the latest. */
  readonly held?: true;
  /** Id of the lease: only its holder may record an attempt. It expires at `next_attempt_at`. */
  readonly lease?: string;
  /** Its first attempt has not ended: the first attempts of the monitor's later events wait for it. */
  readonly first_attempt_owed?: true;
  /** The trace that the change belongs to, for attempts hours later. */
  readonly trace: Readonly<Record<string, string>>;
  readonly created_at: Date;
  /** A test event with invented content: attempted once, never retried, not part of any monitor's order. */
  readonly test?: true;
  readonly replays?: readonly Replay[];
  /** Version of the monitor's URL that `webhook_url` is; absent: the first. */
  readonly url_version?: number;
  /** The monitor no longer has a URL: no further attempt begins, and the delivery fails once none is in flight. */
  readonly url_removed?: true;
  /** Why it failed, if not because of its attempts. `sandbox_limit`: too many sandbox events in this hour. */
  readonly failure?: "no_webhook_url" | "sandbox_limit";
  /** When the 24 h of retries began; absent: with the first attempt. */
  readonly window_started_at?: Date;
  /** Attempts that the schedule counts since then; absent: all attempts. */
  readonly schedule_step?: number;
}
