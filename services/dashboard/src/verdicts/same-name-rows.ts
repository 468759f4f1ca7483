import type { DecisionFacts } from "@vvs/checks/decision";
import type { Result } from "@vvs/proto/verification/v1/verification";
import { longDay } from "@vvs/registration";

/** Describes the exclusions without identifiers that bear the vendor's name and have not ended on a registry's day. */
export function sameNameTexts({ details }: Pick<Result, "details">, today: string): string[] {
  const rows = details?.sameName ?? [];
  return rows
    .filter(({ terminationDate: end }) => end === "indefinite" || end >= today)
    .map(({ name, agency, type, activeDate, terminationDate }) => {
      const by = agency && ` by ${agency}`;
      const since = activeDate && `, ${activeDate > today ? "from" : "since"} ${longDay(activeDate)}`;
      const until = terminationDate === "indefinite" ? "without an end date" : `until ${longDay(terminationDate)}`;
      return `“${name}”, excluded${by}${since}, ${until}${type && `: ${type}`}.`;
    });
}

/** Returns whether one of them bears the vendor's name, as results say it. */
export function sameNameIn(results: readonly Pick<Result, "details">[], today: string): DecisionFacts["sameName"] {
  if (results.some((result) => sameNameTexts(result, today).length > 0)) return "found";
  return results.some(({ details }) => details?.sameNameUnknown) ? "unknown" : "none";
}
