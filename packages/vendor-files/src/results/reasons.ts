/** What is known of a row's result besides its own cells. */
export interface ReasonFacts {
  readonly outcome: string | undefined;
  readonly decision: string | undefined;
  /** Undefined where there is nothing to compare the name with. */
  readonly nameAgrees: boolean | undefined;
  /** The reasons of its checks; empty for one that passed. */
  readonly checks: readonly (string | undefined)[];
  readonly problems: readonly { readonly path: string; readonly message: string }[];
  readonly candidates: readonly { readonly id: string; readonly name: string }[];
}

/** Returns why a row is not simply paid, as the column `reasons` of results says it. */
export function reasonTexts({ outcome, decision, nameAgrees, checks, problems, candidates }: ReasonFacts): string[] {
  const reasons = [
    ...checks.flatMap((reason) => reason || []),
    ...(nameAgrees === false ? ["the name differs from the registered one"] : []),
    ...problems.map(({ path, message }) => (path === "row" ? message : `${path} ${message}`)),
    ...candidates.map(({ id, name }) => `may be ${id} (${name})`),
  ];
  if (reasons.length > 0 || outcome !== "pass" || decision === "pay") return reasons;
  return ["an exclusion may concern the vendor: see the evidence"];
}
