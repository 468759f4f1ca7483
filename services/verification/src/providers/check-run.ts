import type { ErrorReason } from "@vvs/checks";
import type { AttemptDocument } from "../documents.ts";
import type { Asking } from "../questions/question.ts";
import type { Answer } from "./provider.ts";

/** The result of asking the providers: an answer with its origin, or the reason why there is none. */
export type CheckRun = { readonly attempts: readonly AttemptDocument[] } & (
  | { readonly kind: "answered"; readonly answer: Answer; readonly origin: string }
  | {
      readonly kind: "error";
      readonly reason: ErrorReason;
      /** What could be asked of SAM.gov's API, where that helps a monitor's run. */
      readonly asking?: Asking | undefined;
    }
);
