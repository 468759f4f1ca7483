import type { MessageInitShape } from "@bufbuild/protobuf";
import { possibleTins } from "@vvs/identifiers/possible-tins";
import type { JobRowSchema } from "@vvs/proto/verification/v1/jobs";

/** A row of a job, as it is given to verification. */
export type JobRow = Exclude<MessageInitShape<typeof JobRowSchema>, { $typeName: string }> & { row: number };

/** The problem of a vendor's number that is its TIN, as the end of a sentence that begins with the field's name. */
export const TIN_AS_NUMBER_PROBLEM = "must not be the vendor’s TIN";

/** Maximum number of characters of a value that are searched for a TIN; longer values are refused. */
const MAX_READ = 500;

/**
 * Returns whether an organization's own number of a vendor, of any type, contains nine digits that the vendor's other values have
 * too, as its TIN would. A DUNS may be the number.
 */
export function isTinAsNumber(externalId: unknown, others: unknown): boolean {
  const tins = new Set(typeof externalId === "string" ? possibleTins(externalId.slice(0, MAX_READ)) : []);
  const repeats = (value: unknown): boolean =>
    typeof value === "object" && value !== null
      ? Object.entries(value).some(([key, inner]) => key !== "duns" && repeats(inner))
      : possibleTins(String(value).slice(0, MAX_READ)).some((tin) => tins.has(tin));
  return tins.size > 0 && repeats(others);
}

/**
 * Returns a function for the good rows of one job, in their order. It returns the number of the first row that is the same but
 * for the organization's own number; undefined where this is the first.
 */
export function createRepeatFinder(): (row: JobRow) => number | undefined {
  const seen = new Map<string, number>();
  return ({ row, entityId, identifiers, legalName, address }) => {
    const vendor = JSON.stringify([entityId, identifiers, legalName, address]);
    const first = seen.get(vendor);
    if (first === undefined) seen.set(vendor, row);
    return first;
  };
}
