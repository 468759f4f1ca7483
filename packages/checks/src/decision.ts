import type { CheckStatus } from "./index.ts";

/** Whether to pay a vendor: its checks allow it, a check failed, or a person must look. */
export type Decision = "pay" | "hold" | "review";

/** Why a vendor is not simply paid. */
export type Doubt = keyof typeof doubtTexts;

/** Doubts in words. */
export const doubtTexts = {
  no_answer: "a check got no answer",
  registration_ended: "the registration has ended since SAM.gov’s answer",
  other_name: "the name differs from the registered one",
  name_not_compared: "no source confirms the name",
  exclusion: "an exclusion of the vendor or of some of its products is in force",
  exclusions_unknown: "exclusions were not looked up",
  same_name: "an exclusion without a UEI and a CAGE bears the vendor’s name",
  same_name_unknown: "whether an exclusion without a UEI and a CAGE bears the vendor’s name could not be looked up",
} as const;

/** Returns a doubt in words; one that this version does not know as it is. */
export function doubtText(doubt: string): string {
  return doubtTexts[doubt as Doubt] ?? doubt;
}

/** What a decision rests on. */
export interface DecisionFacts {
  /** That of all checks together. */
  readonly result: CheckStatus;
  /** The registration that a check found has ended since. */
  readonly hasEnded?: boolean;
  /**
   * Whether the name that is given of the vendor, or its TIN was matched with, is that of the registry, or where no registry
   * knows the vendor, whether the given one matched with its TIN. `unknown`: there is nothing to compare it with. Undefined where none is given.
   */
  readonly name: "agrees" | "differs" | "unknown" | undefined;
  /** An exclusion of any effect is in force, also one of some products. Undefined where nobody looked. */
  readonly isExcluded: boolean | undefined;
  /** Whether an exclusion that names neither a UEI nor a CAGE bears the vendor's name. `unknown`: it could not be looked up. */
  readonly sameName: "none" | "found" | "unknown";
}

/** Returns whether to pay a vendor, and every doubt where a person must look. */
export function decide({ result, hasEnded, name, isExcluded, sameName }: DecisionFacts) {
  const doubts = (
    [
      result === "error" && "no_answer",
      hasEnded && "registration_ended",
      name === "differs" && "other_name",
      name === "unknown" && "name_not_compared",
      isExcluded && "exclusion",
      isExcluded === undefined && "exclusions_unknown",
      sameName === "found" && "same_name",
      sameName === "unknown" && "same_name_unknown",
    ] as const satisfies (Doubt | false | undefined)[]
  ).filter((doubt) => typeof doubt === "string");
  return { decision: decisionWith(result, doubts), doubts };
}

/** Returns the decision on a vendor with these doubts. */
export function decisionWith(result: CheckStatus, doubts: readonly unknown[]): Decision {
  return result === "fail" ? "hold" : doubts.length > 0 ? "review" : "pay";
}
