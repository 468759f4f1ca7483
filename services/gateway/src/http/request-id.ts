import { containsTin } from "@vvs/identifiers";
import { newId } from "@vvs/ids";

const PRINTABLE = /^[\x20-\x7e]{1,128}$/;

/**
 * Returns the id of a request: the client's own if it has 1–128 printable ASCII characters, otherwise a new req_…. Ids
 * appear in logs and snapshots, so an id that looks like a TIN is not used.
 */
export function requestIdOf(header: string | string[] | undefined): string {
  const own = Array.isArray(header) ? header.join(", ") : header;
  return own !== undefined && PRINTABLE.test(own) && !containsTin(own) ? own : newId("req");
}
