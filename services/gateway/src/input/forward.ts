import { z } from "@vvs/config";
import type { Violation } from "@vvs/errors";
import { bindingOf, type ListIdentity, readCursorContent, writeCursorContent } from "./page.ts";

const MAX_WAIT_SECONDS = 20;
const START = "start";

/** Parameters of a list that is read forward, oldest first. */
export interface Forward {
  /** Position to read after; undefined: begin at the oldest stored item. */
  readonly after: bigint | undefined;
  /** How long to wait for the first item, in seconds. */
  readonly waitSeconds: number;
}

const cursorContent = z.tuple([z.string(), z.literal("forward"), z.int().min(0)]);

/** Returns the cursor after a position, opaque to clients. */
export function writeForwardCursor(list: ListIdentity, position: bigint): string {
  return writeCursorContent([bindingOf(list), "forward", Number(position)]);
}

/** Reads `after` and `wait` of a list and returns their problems. `forward` is undefined if the list is read newest first. */
export function readForward(
  list: ListIdentity,
  query: { after?: string | undefined; wait?: string | undefined; cursor?: string | undefined },
): { forward: Forward | undefined; problems: Violation[] } {
  const { after, wait, cursor } = query;
  const problems: Violation[] = [];
  const position = after === undefined || after === START ? undefined : readPosition(list, after);
  if (after !== undefined && after !== START && position === undefined) {
    problems.push({
      path: "after",
      message: "must be start, or the next_cursor of an earlier answer of this list read with after",
    });
  }
  if (after !== undefined && cursor !== undefined) {
    problems.push({
      path: "after",
      message: "must not be sent together with cursor: after reads forward, cursor reads backward",
    });
  }
  if (wait !== undefined && (!/^\d{1,2}$/.test(wait) || Number(wait) > MAX_WAIT_SECONDS)) {
    problems.push({ path: "wait", message: `must be a whole number from 0 to ${MAX_WAIT_SECONDS}` });
  }
  if (wait !== undefined && after === undefined)
    problems.push({ path: "wait", message: "must only be sent together with after" });
  const forward = after === undefined ? undefined : { after: position, waitSeconds: Number(wait ?? 0) };
  return { forward, problems };
}

function readPosition(list: ListIdentity, cursor: string): bigint | undefined {
  const content = cursorContent.safeParse(readCursorContent(cursor));
  return content.success && content.data[0] === bindingOf(list) ? BigInt(content.data[2]) : undefined;
}
