import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type IdPrefix, isId } from "@vvs/ids";
import type { Position } from "@vvs/proto/common/v1/common";
import { ProblemError } from "./http/problem.ts";

export type Place = Pick<Position, "createdAt" | "id">;

/** A place in a list as a link names it: the time and the id of the item before the page. */
export function writePlace({ createdAt, id }: Place): string {
  return `${timestampDate(createdAt!).toISOString()}~${id}`;
}

/** The place that a query names; undefined for the beginning. Errors: ProblemError for what is no place. */
export function readPlace(text: unknown, prefix: IdPrefix): Place | undefined {
  if (text === undefined) return undefined;
  const [time = "", id = "", ...others] = typeof text === "string" ? text.split("~") : [];
  const at = new Date(time);
  const isTime = !Number.isNaN(at.getTime()) && at.toISOString() === time;
  if (!isTime || !isId(prefix, id) || others.length > 0) throw new ProblemError("malformed");
  return { createdAt: timestampFromDate(at), id };
}
