import type { Check } from "@vvs/checks";
import type { AnswerDocument } from "../documents.ts";
import type { Answer } from "../providers/provider.ts";
import type { Attempt } from "./run-check.ts";

/** The result of one check of a verification, before it is stored. */
export type Conclusion = { readonly check: Check; readonly fingerprint: string } & (
  | { readonly kind: "stored"; readonly stored: AnswerDocument }
  | {
      readonly kind: "answered";
      readonly answer: Answer;
      readonly origin: string;
      readonly attempts: readonly Attempt[];
    }
  | { readonly kind: "error"; readonly reason: string; readonly attempts: readonly Attempt[] }
);
