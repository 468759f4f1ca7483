import type { Collections } from "../model/documents.ts";
import { type DailyCost, planAsking } from "./asking-plan.ts";
import { countRegistry } from "./registry-counts.ts";

/** Prints what asking SAM.gov's API costs if vendors of the loaded registry are monitored daily: all, or as many as given. */
export async function printPlan(
  collections: Collections,
  { monitored, now, print }: { monitored: number | undefined; now: Date; print: (line: string) => void },
): Promise<void> {
  const counts = await countRegistry(collections, now);
  const { vendors, excluded, lapsedRecently, lapsedBefore, inactive, idOnly, gone } = counts;
  const { expiredSince, expiring } = counts;
  const expected = Math.min(monitored ?? vendors, vendors);
  const plan = planAsking(counts, expected);
  const total = expiring.reduce((sum, count) => sum + count, 0);
  const lapsed = `lapsed ${lapsedRecently} in the 30 days before the file, ${lapsedBefore} earlier`;
  print(
    `vendors ${vendors}: ${lapsed}, inactive ${inactive}, only an id ${idOnly}, gone ${gone}; excluded ${excluded}`,
  );
  print(`expired since the file was cut, renewed or not: ${expiredSince}`);
  print(`expiring in the next 30 days: ${total}, ${Math.round(total / 30)} a day, ${Math.max(...expiring)} at most`);
  const cost = ({ vendors: asked, calls }: DailyCost) => `${asked} vendors, ${calls} calls`;
  print(`monitored daily: ${plan.monitored}`);
  print(`asked on an average day: ${cost(plan.average)}`);
  print(`asked on the day with the most expirations: ${cost(plan.largest)}`);
  print(`asked on a day of the first month: ${cost(plan.first)}`);
  for (const { quota, forRuns, fits, fitsLargest, fitting, fresh } of plan.quotas) {
    const verdict = fits ? (fitsLargest ? "fits" : "fits, but the largest day is finished later") : "does not fit";
    const most = fitting === vendors ? "all vendors" : `${fitting} vendors`;
    print(
      `quota ${quota}: ${forRuns} calls for runs, ${forRuns - plan.average.calls} left; ${verdict}; room for ${most}`,
    );
    print(`quota ${quota}: registration data at most a day old for ${fresh} of ${plan.monitored} vendors`);
  }
  print(`registration data at most a day old for all ${plan.monitored}: a quota of ${plan.quotaForFresh}`);
}
