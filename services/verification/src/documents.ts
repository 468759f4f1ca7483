import type { Check, CheckStatus } from "@vvs/checks";
import type { Decision, Doubt } from "@vvs/checks/decision";
import type { Exclusion, Parts, RegistrationFacts } from "@vvs/registration";
import type { Binary } from "mongodb";

/** Where the answers of a verification may come from. */
export type Mode = "cached" | "realtime";

/** The outcome of one check, as the public API shows it. */
export interface ResultDocument {
  readonly check_type: Check;
  readonly status: CheckStatus;
  readonly confidence: number;
  readonly origin: string;
  readonly data_freshness_seconds: number;
  readonly evidence_id: string;
  /** Empty on a plain pass. */
  readonly reason: string;
  /** Absent on error. */
  readonly details?: ResultDetails & { readonly data_as_of: Date };
}

export interface VerificationDocument {
  /** ver_… */
  readonly _id: string;
  readonly organization_id: string;
  readonly entity_id: string;
  readonly mode: Mode;
  readonly overall_result: CheckStatus;
  readonly results: readonly ResultDocument[];
  /** Absent in documents from before 27 November 2026. */
  readonly payment?: PaymentDocument;
  /** Fingerprint of the TIN that its tin_match asked about. Absent without an answer of one, and in documents from before this field. */
  readonly tin_fingerprint?: Binary;
  readonly actor: string;
  readonly request_id: string;
  /** Only for a monitor's run: the id of the record that requested it, unique within the organization. */
  readonly run_record_id?: string;
  readonly run?: { readonly monitor_id: string; readonly run_seq: number };
  readonly created_at: Date;
  /** When it may be removed if nothing names it. Absent before it is stored. */
  readonly expires_at?: Date;
  /**
   * What the retention found when its time came: something names it, so it stays until its new time; or nothing does, and its
   * answers are removed, so that it goes at its new time. Absent before that.
   */
  readonly removal?: "named" | "due";
}

/** What a verification says of a payment on its day. */
export interface PaymentDocument {
  readonly decision: Decision;
  /** Why the vendor is not simply paid. */
  readonly doubts: readonly Doubt[];
  /** The name that the call or the row gave; absent where it gave none. */
  readonly given_name?: string;
  /** Whether it agrees with a name that a source has of the vendor; absent where there is nothing to compare. */
  readonly name_agrees?: boolean;
}

export interface AttemptDocument {
  readonly provider: string;
  readonly outcome: "pass" | "fail" | "throw";
  readonly reason: string;
  readonly started_at: Date;
  readonly duration_ms: number;
}

/** A provider's answer and all attempts; never changed. */
export interface EvidenceDocument {
  /** evd_… */
  readonly _id: string;
  readonly organization_id: string;
  readonly verification_id: string;
  readonly check_type: Check;
  readonly origin: string;
  /** Only in records from before 22 November 2026: their body. */
  readonly content?: string;
  /** Size of the body; 0 where no provider answered, so that there is no body. Absent where the record has its body. */
  readonly content_bytes?: number;
  readonly content_type: string;
  /** SHA-256 of the content's UTF-8 bytes, in lower-case hex: the id of its body. */
  readonly sha256: string;
  /** Absent where the answer has no parts. */
  readonly sources?: readonly AnswerSource[];
  /** Evidence of earlier answers whose parts this answer has; absent where there are none. */
  readonly rests_on?: readonly string[];
  readonly attempts: readonly AttemptDocument[];
  readonly created_at: Date;
}

/** Evidence with its content. */
export type EvidenceWithContent = EvidenceDocument & { readonly content: string };

/** A stored answer, which later cached calls may use. */
export interface AnswerDocument {
  /** The evidence's id. */
  readonly _id: string;
  readonly organization_id: string;
  readonly entity_id: string;
  readonly check_type: Check;
  readonly inputs_fingerprint: string;
  readonly outcome: "pass" | "fail";
  readonly reason: string;
  readonly confidence: number;
  readonly origin: string;
  readonly data_date: Date;
  readonly facts: Facts;
  /** Only for live sam_registration: the parts that the answer rests on. */
  readonly parts?: Parts;
  readonly details?: ResultDetails;
  readonly created_at: Date;
}

/** Where a part of an answer is from. Dates are kept here, so that answers that differ in nothing else share a body. */
export interface AnswerSource {
  readonly part: keyof Parts;
  readonly origin: string;
  readonly date: Date;
  /** Name of the file that it is from, where that is one of those that were loaded. */
  readonly file?: string;
  /** SHA-256 of that file, in lower-case hex. */
  readonly sha256?: string;
}

/** The facts of sam_registration that monitors watch. A fact that the provider does not know is absent; "" means that there is none. */
export type Facts = RegistrationFacts;

/** An exclusion of the loaded file without identifiers that bears a vendor's name; it may be of somebody else of this name. */
export interface SameName extends Pick<Exclusion, "program" | "type" | "agency" | "active_date" | "termination_date"> {
  readonly name: string;
}

/** What an answer's verdict rests on, as results show it. Field names are those of the stored documents. */
export interface ResultDetails extends Omit<RegistrationFacts, "exclusion_effect"> {
  /** Those that have not ended; absent where the source does not know them. */
  readonly exclusions?: readonly Exclusion[];
  /** Only for live sam_registration; no verdict rests on them. Absent where there are none. */
  readonly same_name?: readonly SameName[];
  /** Whether there are any could not be looked up: the loaded files could not be read, or none is an exclusions file. */
  readonly same_name_unknown?: true;
  /** Only for tin_match: the IRS's result code. */
  readonly irs_code?: string;
  /** Only for tin_match: the TIN that was asked about, masked. */
  readonly tin?: string;
  /** Only for tin_match: the name that was asked about, as it was sent. */
  readonly name?: string;
}
