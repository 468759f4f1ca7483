/** What changed, as a subscriber is told. */
export interface Change {
  readonly field: string;
  readonly previous: string | null;
  readonly current: string | null;
}

/** Why an attempt did not deliver. */
export type AttemptError = "http_status" | "timeout" | "connection" | "tls" | "address_refused";

/** One POST to a subscriber. */
export interface Attempt {
  readonly number: number;
  readonly started_at: Date;
  readonly duration_ms: number;
  readonly status_code?: number;
  readonly error?: AttemptError;
  /** The first bytes of the answer, as text. */
  readonly answer_excerpt: string;
}

/** A person had the delivery begun again. */
export interface Replay {
  /** Of a replay of many: its id. */
  readonly id?: string;
  readonly at: Date;
  /** usr_…. */
  readonly actor: string;
}

/**
 * One event on its way to one subscriber.
 *
 * Whoever changes it beside the engine (a replay) must match on no `lease`, and set `next_attempt_at` and `due_at` while
 * unsetting `held`. What is made beside it (a test event) has no `first_attempt_owed`.
 */
export interface Delivery {
  /** dlv_…; made from the event's id, so that an event is delivered once, however often it is requested. */
  readonly _id: string;
  readonly organization_id: string;
  /** evt_…. */
  readonly event_id: string;
  readonly monitor_id: string;
  readonly run_seq: number;
  readonly entity_id: string;
  readonly verification_id: string;
  readonly webhook_url: string;
  /** Of the organization's document for the URL, see endpoint.ts. */
  readonly endpoint_id: string;
  readonly changes: readonly Change[];
  readonly detected_at: Date;
  readonly status: "pending" | "delivered" | "failed";
  readonly attempts: readonly Attempt[];
  /**
   * When the next attempt is to be made: as due, or later while it is held back; while it is leased, when the lease ends.
   * Null: none is due, or the first one waits for the first one of an earlier event of the monitor.
   */
  readonly next_attempt_at: Date | null;
  /** When the next attempt is due by the schedule, whatever holds it back; what it was before the last attempt ended. */
  readonly due_at: Date;
  /** Held back by its endpoint, which fails or is busy; made at `next_attempt_at` at the latest. */
  readonly held?: true;
  /** Of whoever has it in hand, to attempt it: only they may record an attempt. Past `next_attempt_at` it is void. */
  readonly lease?: string;
  /** Its first attempt has not ended: the first ones of the monitor's later events wait for it. */
  readonly first_attempt_owed?: true;
  /** The trace that the change belongs to, for attempts hours later. */
  readonly trace: Readonly<Record<string, string>>;
  readonly created_at: Date;
  /** A test event: made up, attempted once, retried never, in no lane. */
  readonly test?: true;
  readonly replays?: readonly Replay[];
  /** When the 24 h of retries began; absent: with the first attempt. */
  readonly window_started_at?: Date;
  /** Attempts that the schedule counts since then; absent: all there were. */
  readonly schedule_step?: number;
}
