/** Rows per page of SAM.gov's API; a page is a call. */
const PAGE_ROWS = 10;
/** Maximum number of vendors in one question. */
const MAX_VENDORS = 100;

/**
 * Returns the calls that it costs to ask SAM.gov's API about registered vendors: one for each page of ten. `missing` of them
 * no longer have a registration and are looked up as ids, which costs one call more in each question.
 */
export function callsForRegistered(vendors: number, missing = 0): number {
  return Math.ceil((vendors - missing) / PAGE_ROWS) + Math.min(Math.ceil(vendors / MAX_VENDORS), missing);
}

/** Returns the calls that it costs to ask about vendors that have no registration: two for each question of a hundred. */
export function callsForAbsent(vendors: number): number {
  return 2 * Math.ceil(vendors / MAX_VENDORS);
}
