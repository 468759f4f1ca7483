import type { Tenant } from "@vvs/tenant";
import type { Check } from "../checks.ts";

/** The run of a monitor that a question is asked for. */
export interface MonitorRun {
  readonly monitorId: string;
  readonly runSeq: number;
}

/** What a provider is asked. Absent values are empty; what its check needs is there. */
export interface Question {
  readonly tenant: Tenant;
  readonly uei: string;
  readonly cage: string;
  readonly legalName: string;
  /** Reveals the TIN, 9 digits in clear; only a TIN provider calls it. Errors: ProviderError. */
  readonly tin: () => Promise<string>;
  /** Absent for a direct call. */
  readonly run: MonitorRun | undefined;
}

/** What monitors watch of sam_registration. A fact that the provider did not tell is absent; "" says that there is none. */
export type FactName = "registration_status" | "expiration_date" | "legal_name" | "cage" | "entity_type";
export type Facts = { readonly [N in FactName]?: string };

/** What a source that can know says. */
export interface Answer {
  readonly outcome: "pass" | "fail";
  /** Why, such as excluded or not_found; empty on a plain pass. */
  readonly reason: string;
  /** 0–1. */
  readonly confidence: number;
  /** The date of the data itself, such as the day an extract was cut. */
  readonly dataDate: Date;
  readonly facts: Facts;
  /** The answer as received, secrets and TINs masked: the evidence. */
  readonly content: string;
  readonly contentType: string;
}

/** Answers one check. Whoever can't know throws, and the next provider is asked. */
export interface Provider {
  /** As in a result's origin. */
  readonly name: string;
  readonly check: Check;
  /** Errors: ProviderError; whatever else is thrown counts as `internal_error`. It should stop when the signal aborts. */
  ask(question: Question, options: { signal: AbortSignal }): Promise<Answer>;
}

/** A provider gave no answer. */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
  /** A short public word, such as timeout, http_503 or stale_source. */
  readonly reason: string;
  /** Is the provider unwell? A file too old for the question is no fault. */
  readonly isFault: boolean;
  /** The provider has said that it answers nothing before this time: a quota is used up. */
  readonly shutUntil: Date | undefined;

  constructor(reason: string, options: { isFault?: boolean; shutUntil?: Date; cause?: unknown } = {}) {
    super(`no answer: ${reason}`, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
    this.isFault = options.isFault ?? true;
    this.shutUntil = options.shutUntil;
  }
}
