/** What is known of a row's result besides its own cells. */
export interface ReasonFacts {
  /** The reasons of its checks; empty for one that passed. */
  readonly checks: readonly (string | undefined)[];
  /** What else speaks against a payment. */
  readonly doubts: readonly string[];
  readonly problems: readonly { readonly path: string; readonly message: string }[];
  readonly candidates: readonly { readonly id: string; readonly name: string }[];
}

/** Returns why a row is not simply paid, as the column `reasons` of results says it. */
export function reasonTexts({ checks, doubts, problems, candidates }: ReasonFacts): string[] {
  return [
    ...checks.flatMap((reason) => reason || []),
    ...doubts,
    ...problems.map(({ path, message }) => (path === "row" ? message : `${path} ${message}`)),
    ...candidates.map(({ id, name }) => `may be ${id} (${name})`),
  ];
}
