import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type IdPrefix, isId } from "@vvs/ids";
import type { Position } from "@vvs/proto/common/v1/common";
import { ProblemError } from "../http/problem.ts";

export type ListPosition = Pick<Position, "createdAt" | "id">;

/** Returns a position in a list as text for links: the time and the id of the item before the page. */
export function writePosition({ createdAt, id }: ListPosition): string {
  return `${timestampDate(createdAt!).toISOString()}~${id}`;
}

/**
 * Reads a position from a query parameter. Its id must have the given prefix or be an entry of a log. Returns
 * undefined (the beginning of the list) if the parameter is absent. Errors: ProblemError if it is malformed.
 */
export function readPosition(text: unknown, prefix: IdPrefix | "log"): ListPosition | undefined {
  if (text === undefined) return undefined;
  const [time = "", id = "", ...others] = typeof text === "string" ? text.split("~") : [];
  const at = new Date(time);
  const isTime = !Number.isNaN(at.getTime()) && at.toISOString() === time;
  const isRightId = prefix === "log" ? /^[0-9a-f]{24}$/.test(id) : isId(prefix, id);
  if (!isTime || !isRightId || others.length > 0) throw new ProblemError("malformed");
  return { createdAt: timestampFromDate(at), id };
}
