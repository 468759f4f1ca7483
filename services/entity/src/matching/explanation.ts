import type { MatchPart, MatchReason } from "@vvs/proto/common/v1/common";

/** How a criterion or a part of it compares. */
export type PartOutcome = "agrees" | "contradicts" | "absent";

/** A part of a criterion; weights are shares of the criterion, negative where a part contradicts. */
export type ReasonPart = Omit<MatchPart, "$typeName">;

/** A reason for or against a match. */
export type Reason = Omit<MatchReason, "$typeName" | "parts"> & { readonly parts?: ReasonPart[] };
