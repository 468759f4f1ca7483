import { median } from "../load.ts";
import { DAY_MS } from "./calendar.ts";
import type { FileAnswers } from "./file-answers.ts";
import type { RegistryFiles } from "./loaded-files.ts";
import type { Monitors } from "./monitors.ts";
import type { Kept } from "./rule.ts";

/** The ages whose shares are measured, in milliseconds. */
const ages = { fresh_share: DAY_MS, week_share: 7 * DAY_MS, month_share: 30 * DAY_MS } as const;

/**
 * Measures how old the newest registration data of monitored vendors is: the extract's that lists them, or a kept answer's.
 * It goes by what files and answers say, not by the dates that the product notes.
 */
export function createFreshness(options: { monitors: Monitors; files: RegistryFiles; answers: FileAnswers<Kept> }) {
  const { files, answers } = options;
  const vendors = options.monitors.vendors();
  const samples: Record<keyof typeof ages, number>[] = [];
  return {
    sample(moment: number): void {
      const shares = { fresh_share: 0, week_share: 0, month_share: 0 };
      for (const vendor of vendors) {
        const asked = answers.keptOf(vendor)?.asked_at.getTime() ?? 0;
        const age = moment - Math.max(asked, files.dateOf(vendor) ?? 0);
        for (const name of names) if (age <= ages[name]) shares[name] += 1 / vendors.length;
      }
      samples.push(shares);
    },
    /**
     * Returns the mean of each share over the samples, its median, which the days of new extracts hardly move, and the least share of
     * data that is at most a day old.
     */
    figures() {
      const sharesOf = (name: keyof typeof ages) => samples.map((each) => each[name]);
      const mean = (shares: readonly number[]) => shares.reduce((sum, share) => sum + share, 0) / shares.length;
      const figures = names.flatMap((name) => [
        [name, threeDigits(mean(sharesOf(name)))],
        [`${name}_median`, threeDigits(median(sharesOf(name)))],
      ]);
      const least = threeDigits(Math.min(...sharesOf("fresh_share")));
      return { ...Object.fromEntries(figures), fresh_share_least: least } as Record<string, number>;
    },
  };
}

const names = Object.keys(ages) as (keyof typeof ages)[];
const threeDigits = (share: number) => Math.floor(share * 1_000 + 1e-6) / 1_000;
