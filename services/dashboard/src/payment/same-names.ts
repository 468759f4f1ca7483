import type { Visit } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";

interface NamePair {
  readonly one: string;
  readonly other: string;
}

/** Returns whether two names are equal except for their spelling. */
export type SameNames = (one: string, other: string) => boolean;

const keyOf = ({ one, other }: NamePair) => JSON.stringify([one, other]);

/**
 * Compares pairs of names by the rules of an exact look-up. Names that could not be compared, because the entity service is
 * unavailable, count as different unless they are the same text.
 */
export async function readSameNames(
  { vendorList, readPanel }: Pick<PageContext, "vendorList" | "readPanel">,
  visit: Pick<Visit, "caller">,
  pairs: readonly NamePair[],
): Promise<SameNames> {
  const different = pairs.filter(({ one, other }) => one !== other && one !== "" && other !== "");
  const asked = [...new Map(different.map((pair) => [keyOf(pair), pair])).values()];
  const compared =
    asked.length === 0
      ? undefined
      : await readPanel(visit, "names", (call) =>
          vendorList.compareNames({ caller: visit.caller, pairs: asked }, call),
        );
  const same = new Set(asked.filter((_, place) => compared?.agree[place]).map(keyOf));
  return (one, other) => (one !== "" && one === other) || same.has(keyOf({ one, other }));
}
