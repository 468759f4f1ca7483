import { dayAt } from "./calendar.ts";
import type { RegistryFiles } from "./loaded-files.ts";
import type { Population } from "./population.ts";

/** The outcome of a run: `pass`, the reason of its fail, or `ask` where SAM.gov must be asked. */
export type Outcome = string;

export type FileAnswers<Kept> = ReturnType<typeof createFileAnswers<Kept>>;

/**
 * Creates the answers to runs that need no call. `decide` is the product's own rule; it is asked once for all vendors of
 * which the rule knows the same apart from name and identifiers, which it does not read: those without an exclusion and
 * with the same expiration date in the extract, and among these those without a kept answer, or with one (`likenessOf`)
 * that is the same to the rule. It counts the age of files in days (UTC), so its outcome holds until the day or a file
 * changes. For all others it is asked at each run.
 */
export function createFileAnswers<Kept>(options: {
  population: Population;
  files: RegistryFiles;
  decide: (vendor: number, kept: Kept | undefined) => Promise<Outcome>;
  /** Returns a text that is the same for kept answers that are the same to the rule today; undefined where none are. */
  likenessOf: (kept: Kept, today: number) => string | undefined;
}) {
  const { population, files, decide, likenessOf } = options;
  const kept = new Map<number, Kept>();
  let outcomes = new Map<string | number, Outcome>();
  let today = 0;

  return {
    /** Takes in SAM.gov's kept answer about a vendor. */
    keep: (vendor: number, answer: Kept) => void kept.set(vendor, answer),
    keptOf: (vendor: number) => kept.get(vendor),
    /** Forgets all outcomes, after files were loaded. */
    clear() {
      outcomes = new Map();
    },
    /** Returns the outcome of a run of a vendor at a moment. Not asynchronous where it is known, as there are millions. */
    outcomeOf(vendor: number, moment: number): Outcome | Promise<Outcome> {
      if (dayAt(moment) !== today) {
        today = dayAt(moment);
        outcomes = new Map();
      }
      const answer = kept.get(vendor);
      const likeness = answer === undefined ? "" : likenessOf(answer, today);
      if (likeness === undefined || population.exclusions.has(vendor)) return decide(vendor, answer);
      const like = likeness === "" ? files.listed(vendor) : `${files.listed(vendor)} ${likeness}`;
      const known = outcomes.get(like);
      if (known !== undefined) return known;
      return decide(vendor, answer).then((outcome) => {
        outcomes.set(like, outcome);
        return outcome;
      });
    },
  };
}
