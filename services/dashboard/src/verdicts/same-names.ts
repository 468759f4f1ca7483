import { irsName } from "@vvs/identifiers/irs-name";
import type { Visit } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";

/** The name that a TIN match asked about, and the one that it should have been. */
interface NamePair {
  readonly asked: string;
  readonly own: string;
}

/** Returns whether the name that was asked about is another one, except for its spelling. */
export type SameNames = (asked: string, own: string) => boolean;

const keyOf = (pair: NamePair) => JSON.stringify([pair.asked, pair.own]);

/** The IRS is asked about a name without most signs, and with its first 40 characters only. */
export const isSent = ({ asked, own }: NamePair): boolean => asked !== "" && (asked === own || asked === irsName(own));

/**
 * Compares pairs of names by the rule of payments. Names that could not be compared, because the entity service is
 * unavailable, count as different unless one is the other as it is sent to the IRS.
 */
export async function readSameNames(
  { vendorList, readPanel }: Pick<PageContext, "vendorList" | "readPanel">,
  visit: Pick<Visit, "caller">,
  pairs: readonly NamePair[],
): Promise<SameNames> {
  const open = pairs.filter((pair) => pair.asked !== "" && pair.own !== "" && !isSent(pair));
  const compared = [...new Map(open.map((pair) => [keyOf(pair), pair])).values()];
  const found =
    compared.length === 0
      ? undefined
      : await readPanel(visit, "names", (call) => {
          const names = compared.map(({ asked, own }) => ({ one: asked, other: own }));
          return vendorList.compareNames({ caller: visit.caller, pairs: names }, call);
        });
  const same = new Set(compared.filter((_, place) => found?.agree[place]).map(keyOf));
  return (asked, own) => isSent({ asked, own }) || same.has(keyOf({ asked, own }));
}
