import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type IdPrefix, isId } from "@vvs/ids";
import type { Position } from "@vvs/proto/common/v1/common";
import { ProblemError } from "./http/problem.ts";

export type Place = Pick<Position, "createdAt" | "id">;

/** A place in a list as a link names it: the time and the id of the item before the page. */
export function writePlace({ createdAt, id }: Place): string {
  return `${timestampDate(createdAt!).toISOString()}~${id}`;
}

/**
 * The place that a query names, by an id of that prefix or of an entry of the audit log; undefined for the beginning.
 * Errors: ProblemError for what is no place.
 */
export function readPlace(text: unknown, prefix: IdPrefix | "audit"): Place | undefined {
  if (text === undefined) return undefined;
  const [time = "", id = "", ...others] = typeof text === "string" ? text.split("~") : [];
  const at = new Date(time);
  const isTime = !Number.isNaN(at.getTime()) && at.toISOString() === time;
  const isPlaced = prefix === "audit" ? /^[0-9a-f]{24}$/.test(id) : isId(prefix, id);
  if (!isTime || !isPlaced || others.length > 0) throw new ProblemError("malformed");
  return { createdAt: timestampFromDate(at), id };
}
