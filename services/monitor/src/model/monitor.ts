import type { Check, CheckStatus } from "@vvs/checks";
import type { FieldChange } from "@vvs/kafka";
import type { Frequency } from "./frequency.ts";

/** The dates of the data behind an answer of sam_registration; absent where the part is unknown. */
export interface DataDates {
  readonly registration?: Date;
  readonly exclusions?: Date;
}

/** The scheduled checks that confirmed a run. */
export interface Confirmed {
  readonly times: number;
  /** When the last of them was due. */
  readonly last_at: Date;
  /** Absent where the run's are. */
  readonly data_as_of?: DataDates;
}

/** A monitor as stored. */
export interface MonitorDocument {
  readonly _id: string;
  readonly organization_id: string;
  readonly entity_id: string;
  readonly checks: readonly Check[];
  readonly frequency: Frequency;
  /** URL that its events are sent to; absent: they are not sent. */
  readonly webhook_url?: string;
  /** The organization's own number of the vendor, where it gave the monitor one. */
  readonly external_id?: string;
  /**
   * Entity, checks and URL of an active monitor that a job wanted: the organization has one such monitor. Absent once its URL has
   * changed.
   */
  readonly job_key?: string;
  /** Number of changes of the URL; absent before the first. */
  readonly url_version?: number;
  readonly status: "active" | "canceled";
  readonly created_at: Date;
  /** Id of the API key or the user that created it. */
  readonly created_by: string;
  /** W3C trace context of the call that created it. The traces of its runs link to it. */
  readonly traceparent?: string;
  /** The fields of the creation's answer that can change later. */
  readonly created_as: {
    readonly frequency: Frequency;
    readonly webhook_url?: string;
    readonly external_id?: string;
    readonly next_run_at: Date;
  };
  /** Number of its newest run; 0 before the first. */
  readonly run_seq: number;
  /** Due time of its newest run by the schedule. */
  readonly last_due_at: Date;
  /** Due time of the next run by the schedule; absent once canceled. */
  readonly next_run_at?: Date;
  /** Due time of its first run; absent once that was claimed. */
  readonly first_run_at?: Date;
  /** Due time of the extra run on the day after the registration's expiration date, if one is to come. */
  readonly expiry_run_at?: Date;
  /** Due time of the extra run on the first day of an exclusion that was listed before, if one is to come. */
  readonly exclusion_run_at?: Date;
  /** The newest file and the newest answer of SAM.gov that changed the vendor. */
  readonly file_run?: {
    /** The load of the one that was noted last. */
    readonly load_id: string;
    /** When the file's load was finished, by the clock of its database; absent where there was none. */
    readonly changed_at?: Date;
    /** When the answer was stored, by verification's clock; absent where there was none. */
    readonly answered_at?: Date;
    /** When the extra run is due; absent once that was claimed. */
    readonly at?: Date;
  };
  /** Its organization is suspended and an extra run is due: none is claimed until the suspension is over. */
  readonly extras_wait?: true;
  /**
   * When the next run may be claimed: at the earliest due time, but not while the open run delays it. The monitor that waits
   * longest goes first; a new one counts from a minute before its creation. Absent once canceled.
   */
  readonly claimable_at?: Date;
  /** The newest run, until it ends. */
  readonly open_run?: { readonly run_seq: number; readonly claimed_at: Date };
  /** The newest run that has ended. */
  readonly last_run?: {
    readonly run_seq: number;
    readonly at: Date;
    readonly outcome: CheckStatus;
    readonly verification_id: string;
    /** Absent where its sam_registration learned nothing, and in runs of older versions. */
    readonly data_as_of?: DataDates;
    /** The digest of its answer, in hex. Absent where its sam_registration learned nothing, in the sandbox, and in runs of older versions. */
    readonly digest?: string;
    /** Set when the monitor stops standing, if scheduled checks had confirmed the run. */
    readonly confirmed?: Confirmed;
  };
  /**
   * Present while no run is open, the last two runs had digests, and there is no check but sam_registration. With
   * `offset_ms` the scheduled checks are made in bulk (../sweep): no run is claimed, and `next_run_at` and `claimable_at` stay as
   * they were.
   */
  readonly standing?: {
    /** The newest run, and when it ended. */
    readonly run_seq: number;
    readonly since: Date;
    /** Place of the scheduled checks in the period of the monitor's frequency, in milliseconds. Absent in marks of older versions. */
    readonly offset_ms?: number;
    /** When the monitor stops standing: once its next extra run is due, or a period after a run that changed; absent where neither is to come. */
    readonly until?: Date;
  };
  /** Number of consecutive runs that ended in error. */
  readonly consecutive_errors: number;
  /** Present while there are any: when the first of them ended, and whether the last one lacked data that the organization must supply. */
  readonly erring?: { readonly since: Date; readonly lacks_input: boolean };
  /** Number of events in its history. */
  readonly event_count: number;
  /** The sandbox has removed its events of runs up to this one. Absent while it has removed none. */
  readonly events_removed_to?: number;
  readonly canceled_at?: Date;
  /** The status that was published last (state-publisher.ts); absent before the first time. */
  readonly published_status?: "active" | "canceled";
  /**
   * Set while sam_registration lacks the vendor's UEI and CAGE, so that verification can't keep the vendor fresh: the state is
   * published again once the check is answered.
   */
  readonly unwatched?: true;
  /** The frequency that was published last; absent before the first time, and where the state is to be published again. */
  readonly published_frequency?: Frequency;
  /** The state that was published last, or is being published, and how many there were before it. */
  readonly publishing?: {
    readonly seq: number;
    readonly status: MonitorDocument["status"];
    readonly frequency: Frequency;
  };
}

/**
 * Why a run is due: by the schedule, as the monitor is new, on the day after the registration's expiration date, on the first
 * day of an exclusion, or after a file, or another answer of SAM.gov, changed the vendor.
 */
export type RunCause = "schedule" | "creation" | "expiry" | "exclusion" | "file" | "answer";

/** A run as stored, from its claim to its end. */
export interface RunDocument {
  /** <monitor id>:<run_seq>, also the id of the record that requests its verification. */
  readonly _id: string;
  readonly organization_id: string;
  readonly monitor_id: string;
  readonly run_seq: number;
  readonly claimed_at: Date;
  /** Why it was made. Absent in runs that an older version claimed. */
  readonly cause?: RunCause;
  /** This and the following fields are absent until the run has ended. */
  readonly ended_at?: Date;
  readonly outcome?: CheckStatus;
  readonly verification_id?: string;
  /** Set when the next run ends, if scheduled checks had confirmed this one. */
  readonly confirmed?: Confirmed;
}

/** A detected change as stored in the history. Kept for 7 years, in the sandbox for some days (sandbox-retention.ts). */
export interface EventDocument {
  readonly _id: string;
  readonly organization_id: string;
  readonly monitor_id: string;
  readonly entity_id: string;
  readonly run_seq: number;
  readonly verification_id: string;
  readonly changes: readonly FieldChange[];
  /** The monitor's number when the event was stored, else the entity's when the run read it; absent if there was none. */
  readonly external_id?: string;
  /** When the change was detected. Lists are ordered by it. */
  readonly created_at: Date;
  /** When the event was stored. Absent on events of older versions. */
  readonly recorded_at?: Date;
  /** Its number among the organization's events in the order in which they were stored, from 1 without gaps. Absent until numbered. */
  readonly position?: number;
}

/** Returns a monitor as it was right after its creation: the answer to a repeated creation. */
export function asCreated(monitor: MonitorDocument): MonitorDocument {
  const { last_run: _lastRun, standing: _standing, erring: _erring, canceled_at: _canceledAt, ...lasting } = monitor;
  const { webhook_url: _webhookUrl, external_id: _externalId, ...rest } = lasting;
  return { ...rest, ...monitor.created_as, status: "active", consecutive_errors: 0 };
}
