import type { CheckStatus } from "./index.ts";

/** Whether to pay a vendor: its checks allow it, a check failed, or a person must look. */
export type Decision = "pay" | "hold" | "review";

/** Why a vendor is not simply paid. */
export type Doubt = "no_answer" | "other_name" | "name_not_compared" | "exclusion" | "same_name" | "same_name_unknown";

/** What a decision rests on. */
export interface DecisionFacts {
  /** That of all checks together. */
  readonly result: CheckStatus;
  /**
   * Whether the name that is given of the vendor is that of the registry, or where no registry knows the vendor, the one that
   * matched with its TIN. `unknown`: there is nothing to compare it with. Undefined where none is given.
   */
  readonly name: "agrees" | "differs" | "unknown" | undefined;
  /** An exclusion of any effect is in force, also one of some products. */
  readonly isExcluded: boolean;
  /** Whether an exclusion that names neither a UEI nor a CAGE bears the vendor's name. `unknown`: it could not be looked up. */
  readonly sameName: "none" | "found" | "unknown";
}

/** Returns whether to pay a vendor, and every doubt where a person must look. Only this function says `pay`. */
export function decide({ result, name, isExcluded, sameName }: DecisionFacts) {
  const doubts = (
    [
      result === "error" && "no_answer",
      name === "differs" && "other_name",
      name === "unknown" && "name_not_compared",
      isExcluded && "exclusion",
      sameName === "found" && "same_name",
      sameName === "unknown" && "same_name_unknown",
    ] as const satisfies (Doubt | false)[]
  ).filter((doubt) => doubt !== false);
  const decision: Decision = result === "fail" ? "hold" : doubts.length > 0 ? "review" : "pay";
  return { decision, doubts };
}
