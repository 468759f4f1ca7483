import { containsTin } from "@vvs/identifiers";
import { newId } from "@vvs/ids";

const PRINTABLE = /^[\x20-\x7e]{1,128}$/;

/**
 * The id of a request: the client's own where it is 1–128 printable ASCII characters, else a new req_…. It is shown in
 * logs and snapshots, so that a text which looks like a TIN is not taken either.
 */
export function requestIdOf(header: string | string[] | undefined): string {
  const own = Array.isArray(header) ? header.join(", ") : header;
  return own !== undefined && PRINTABLE.test(own) && !containsTin(own) ? own : newId("req");
}
