import type { QuestionDocument } from "./documents.ts";
import type { QuestionKind } from "./question.ts";
import type { SettledQuestion } from "./settled.ts";

/** What an asker must know of SAM.gov's API. */
export interface AskedProvider {
  /** Returns how many HTTP calls may still be made for runs today; undefined where that is unknown. */
  readonly callsLeft: () => Promise<number | undefined>;
  /** Returns how many may still be made only to keep data fresh, beside what is held for runs; 0 where that is unknown. */
  readonly callsLeftForFreshness: (heldForRuns: number) => Promise<number>;
  /** Makes an attempt about these vendors, with its effect on the circuit. Errors: those of the attempt; ProviderError where it is refused. */
  readonly attempt: (
    vendors: readonly QuestionDocument[],
    work: () => Promise<SettledQuestion[]>,
  ) => Promise<SettledQuestion[]>;
}

/** What an asker must know of vendors that no run waits for, and whose data is to be kept fresh. */
export interface FreshVendors {
  /**
   * Adds those that are due to the questions of runs, up to a full call of each kind. Returns them with how many HTTP calls
   * may still be made for them today.
   */
  readonly fillUp: (waiting: Waiting, now: Date) => Promise<{ questions: Waiting; callsLeft: number }>;
  /** Returns the questions that are still to be asked, with what is asked about each. */
  readonly lookUp: (questions: readonly QuestionDocument[], now: Date) => Promise<QuestionDocument[]>;
  /** Puts off a question after a call about it only has failed. */
  readonly putOff: (question: QuestionDocument, now: Date) => Promise<void>;
}

type Waiting = ReadonlyMap<QuestionKind, readonly QuestionDocument[]>;
