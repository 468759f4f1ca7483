import { maskTins } from "@vvs/identifiers";
import type { Candidate, MatchReason } from "@vvs/proto/common/v1/common";

/** An entity that a look-up could mean; the explanation only where one was asked for. */
export function renderCandidate({ id, legalName, confidence, explanation }: Candidate) {
  return { id, legal_name: legalName, confidence, explanation: renderExplanation(explanation) };
}

/** Returns why something matched, or undefined without reasons. */
export function renderExplanation(reasons: readonly MatchReason[] | undefined) {
  if (!reasons?.length) return undefined;
  // A detail repeats words of the name asked for, which can look like a TIN.
  return reasons.map(({ criterion, outcome, weight, detail, parts }) => ({
    criterion,
    outcome,
    weight,
    detail: maskTins(detail),
    parts: parts?.length
      ? parts.map(({ part, outcome, weight }) => ({ part: maskTins(part), outcome, weight }))
      : undefined,
  }));
}
