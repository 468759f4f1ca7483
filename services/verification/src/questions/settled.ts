import type { PublicAnswer, QuestionDocument } from "./documents.ts";
import type { ReceivedAnswer } from "./rules.ts";

/** The result of one question. */
export interface SettledQuestion {
  readonly question: QuestionDocument;
  /** Undefined where SAM.gov can't answer about this vendor. */
  readonly answer: ReceivedAnswer | undefined;
}

/** The results of a call, and what they changed in the kept answers. */
export interface NotedAnswers {
  readonly settled: readonly SettledQuestion[];
  readonly changes: readonly KeptChange[];
  /** When the call was made. */
  readonly at: Date;
}

/** An answer that is kept, and the one that was kept before, without its bodies. */
export interface KeptChange {
  readonly before: Pick<PublicAnswer, "parts"> | undefined;
  readonly after: PublicAnswer;
}
