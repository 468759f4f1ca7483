import type { MessageInitShape } from "@bufbuild/protobuf";
import { normalizeIdentifier } from "@vvs/identifiers";
import type { JobRowSchema } from "@vvs/proto/verification/v1/jobs";

/** A row of a job, as it is given to verification. */
export type JobRow = Exclude<MessageInitShape<typeof JobRowSchema>, { $typeName: string }> & { row: number };

/** The problem of a vendor's number that is its TIN, as the end of a sentence that begins with the field's name. */
export const TIN_AS_NUMBER_PROBLEM = "must not be the vendor’s TIN";

/** Returns whether an organization's own number of a vendor is the vendor's normalized TIN, however it is written. */
export function isTinAsNumber(externalId: string | undefined, tin: string | undefined): boolean {
  return externalId !== undefined && tin !== undefined && normalizeIdentifier(externalId) === tin;
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
