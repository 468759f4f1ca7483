import type { Check, CheckStatus, Mode } from "./checks.ts";
import type { Facts } from "./providers/provider.ts";

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
}

export interface VerificationDocument {
  /** ver_… */
  readonly _id: string;
  readonly organization_id: string;
  readonly entity_id: string;
  readonly mode: Mode;
  readonly overall_result: CheckStatus;
  readonly results: readonly ResultDocument[];
  readonly actor: string;
  readonly request_id: string;
  /** Of a monitor's run alone: the record that asked for it, unique within the organization. */
  readonly run_record_id?: string;
  readonly run?: { readonly monitor_id: string; readonly run_seq: number };
  readonly created_at: Date;
}

export interface AttemptDocument {
  readonly provider: string;
  readonly outcome: "pass" | "fail" | "throw";
  readonly reason: string;
  readonly started_at: Date;
  readonly duration_ms: number;
}

/** What a provider said and each attempt; never changed. */
export interface EvidenceDocument {
  /** evd_… */
  readonly _id: string;
  readonly organization_id: string;
  readonly verification_id: string;
  readonly check_type: Check;
  readonly origin: string;
  /** Of records made before bodies were kept apart. */
  readonly content?: string;
  /** 0 where nothing answered: there is no body then. */
  readonly content_bytes?: number;
  readonly content_type: string;
  /** Of the content's UTF-8 bytes; names its body. */
  readonly sha256: string;
  readonly attempts: readonly AttemptDocument[];
  readonly created_at: Date;
}

/** A record with the content that it names. */
export type EvidenceWithContent = EvidenceDocument & { readonly content: string };

/** An answer that later cached calls are given again. Attempts that threw have none. */
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
  readonly created_at: Date;
}
