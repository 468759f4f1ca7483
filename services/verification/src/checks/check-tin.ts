import { maskTin, maskTins } from "@vvs/identifiers";
import type { Answer } from "../providers/provider.ts";
import { sentName } from "../providers/tin-matching/irs-codes.ts";
import { maskTinIn } from "../providers/tin-matching/mask-answers.ts";

/** The TIN of one check. */
export interface CheckTin {
  /** Returns the TIN in clear, for a provider. It is read once, so that every provider is asked with the same TIN. */
  readonly read: (signal: AbortSignal) => Promise<string>;
  /** Returns the TIN in clear where it was read; otherwise "". */
  readonly ifRead: () => string;
  /**
   * Masks the TIN in an answer, in case the provider's adapter missed it, and adds what was asked to its details: the TIN,
   * masked, and the name.
   */
  readonly complete: (answer: Answer) => Answer;
}

/** Reads a check's TIN, and completes answers about it. An answer must pass `complete` before it becomes evidence. */
export function createCheckTin(legalName: string, reveal: (signal: AbortSignal) => Promise<string>): CheckTin {
  let reading: Promise<string> | undefined;
  let revealed = "";
  const masked = (text: string) => (revealed ? maskTinIn(text, revealed) : text);
  return {
    async read(signal) {
      reading ??= reveal(signal);
      revealed = await reading;
      return revealed;
    },
    ifRead: () => revealed,
    complete: (answer) => ({
      ...answer,
      ...(revealed && {
        details: { ...answer.details, tin: maskTin(revealed), name: maskTins(masked(sentName(legalName))) },
      }),
      facts: Object.fromEntries(Object.entries(answer.facts).map(([name, fact]) => [name, fact && masked(fact)])),
      content: masked(answer.content),
    }),
  };
}
