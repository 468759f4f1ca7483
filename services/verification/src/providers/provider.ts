import type { Check, FailReason, ThrowReason } from "@vvs/checks";
import type { DecisionFacts } from "@vvs/checks/decision";
import type { Parts } from "@vvs/registration";
import type { Tenant } from "@vvs/tenant";
import type { AnswerSource, Facts, ResultDetails } from "../documents.ts";
import type { Asking, KeptAnswer } from "../questions/question.ts";

/** A run of a monitor. */
export interface MonitorRun {
  readonly monitorId: string;
  readonly runSeq: number;
  /** It has waited for SAM.gov's API, which is not asked again for it. */
  readonly wasParked?: boolean;
  /** It is a job's row, which asks no API itself and counts as a first run. */
  readonly isRow?: boolean;
}

/** Returns true for what asks no API itself, since a queue asks it for all: later runs of a monitor, and a job's rows. */
export function isLaterRun(run: MonitorRun | undefined): boolean {
  return run !== undefined && (run.runSeq > 1 || run.wasParked === true || run.isRow === true);
}

/** The vendor that a provider is asked about. Unknown values are empty; those that its check needs are set. */
export interface Question {
  readonly tenant: Tenant;
  readonly uei: string;
  readonly cage: string;
  readonly legalName: string;
  /** The registry's text, such as Sole Proprietorship. */
  readonly entityType: string;
  /** Returns the TIN, 9 digits in clear; only a TIN provider calls it. Errors: TinReplacedError, service_unavailable. */
  readonly tin: (signal: AbortSignal) => Promise<string>;
  /** The monitor's run, or the live job's row, that the question is part of; undefined for a direct call. */
  readonly run: MonitorRun | undefined;
  /** Only for live sam_registration: the newest of each part among the organization's stored answers to the same question. */
  readonly stored?: Parts | undefined;
  /** Only for live sam_registration: SAM.gov's answer to the same question that is kept for all organizations. */
  readonly kept?: KeptAnswer | undefined;
}

/** What is known of a vendor's exclusions. */
export type KnownExclusions = Pick<DecisionFacts, "isExcluded" | "sameName">;

/** An answer about a vendor, by a provider that is able to know. */
export interface Answer {
  readonly outcome: "pass" | "fail";
  /** The reason, such as excluded or not_found; empty on a plain pass. */
  readonly reason: FailReason | "";
  /** 0–1. */
  readonly confidence: number;
  /** The source of the data, as in a result's origin; absent where it is the provider itself. */
  readonly origin?: string;
  /** The date of the data itself, such as the day an extract was cut. */
  readonly dataDate: Date;
  readonly facts: Facts;
  /** What results show of it; absent where there is nothing to show. */
  readonly details?: ResultDetails;
  /** Only for live sam_registration: the parts that the answer rests on. */
  readonly parts?: Parts;
  /** Where the parts are from. */
  readonly sources?: readonly AnswerSource[];
  /** File loads that were withdrawn. */
  readonly withdrawnLoads?: readonly string[];
  /** The evidence: the answer as received, with secrets and TINs masked. */
  readonly content: string;
  readonly contentType: string;
}

/** Answers one check. A provider that is not able to know throws, and the next one is asked. */
export interface Provider {
  /** Its name in results' origin. */
  readonly name: string;
  readonly check: Check;
  /** Whether it is asked for later runs of monitors; for all questions where absent. */
  readonly laterRuns?: "never" | "only";
  /** Returns whether its data is too old for any pass now; absent where its data is never older than the question. */
  isOutdated?(options: { signal: AbortSignal }): Promise<boolean>;
  /**
   * Answers a question, and should stop when the signal aborts. A provider whose answers can take several calls that count
   * reports each after the first by `onFurtherCall`, before it makes it. Errors: ProviderError; ServiceError where our own
   * data can't be read; TinReplacedError. Any other error counts as `internal_error`.
   */
  ask(
    question: Question,
    options: { signal: AbortSignal; onFurtherCall?: (() => Promise<void>) | undefined },
  ): Promise<Answer>;
}

/** Another call replaced the TIN of a check before it was revealed. */
export class TinReplacedError extends Error {
  override readonly name = "TinReplacedError";

  constructor() {
    super("the TIN of the check was replaced");
  }
}

/** A provider gave no answer about the vendor. */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
  /** A short public word, such as timeout, http_503 or stale_source. */
  readonly reason: ThrowReason;
  /** Counts against the provider's health. Data that is too old for the question does not. */
  readonly isFault: boolean;
  /** The provider answered that it can't answer this question, whoever asks it. It is counted, but not as a fault. */
  readonly isInputFault: boolean;
  /** The time until which the provider said that it answers nothing, since a quota is used up. */
  readonly shutUntil: Date | undefined;
  /** What could be asked of SAM.gov's API, where that helps a monitor's run. */
  readonly asking: Asking | undefined;

  constructor(
    reason: ThrowReason,
    options: {
      isFault?: boolean;
      isInputFault?: boolean;
      shutUntil?: Date;
      asking?: Asking | undefined;
      cause?: unknown;
    } = {},
  ) {
    super(`no answer: ${reason}`, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
    this.isInputFault = options.isInputFault ?? false;
    this.isFault = options.isFault ?? !this.isInputFault;
    this.shutUntil = options.shutUntil;
    this.asking = options.asking;
  }
}
