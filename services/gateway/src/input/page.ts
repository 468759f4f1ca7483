import { createHash } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { z } from "@vvs/config";
import type { Violation } from "@vvs/errors";
import type { PageRequestSchema, Position } from "@vvs/proto/common/v1/common";

export type Page = MessageInitShape<typeof PageRequestSchema>;

const DEFAULT_LIMIT = 25;
const MAX_LIMIT = 100;

/** Identifies the organization, list and filter of a cursor. The cursor only works for these. */
export type ListIdentity = readonly string[];

const cursorContent = z.tuple([
  z.string(),
  z.int().min(-62_135_596_800).max(253_402_300_799),
  z.int().min(0).max(999_999_999),
  z.string().regex(/^[a-z]{3}_[0-9a-z]{26}$/),
]);

/** Returns the cursor of the next page, opaque to clients; null on the last page. */
export function writeCursor(list: ListIdentity, next: Position | undefined): string | null {
  if (!next?.createdAt) return null;
  const { seconds, nanos } = next.createdAt;
  return writeCursorContent([bindingOf(list), Number(seconds), nanos, next.id]);
}

/** Reads `limit` and `cursor` of a list and returns their problems. */
export function readPage(
  list: ListIdentity,
  query: { limit?: string | undefined; cursor?: string | undefined },
): { page: Page; problems: Violation[] } {
  const problems: Violation[] = [];
  const limit = query.limit === undefined ? DEFAULT_LIMIT : Number(query.limit);
  if (query.limit !== undefined && (!/^[1-9]\d{0,2}$/.test(query.limit) || limit > MAX_LIMIT)) {
    problems.push({ path: "limit", message: `must be a whole number from 1 to ${MAX_LIMIT}` });
  }
  const after = query.cursor === undefined ? undefined : readCursor(list, query.cursor);
  if (query.cursor !== undefined && !after) {
    problems.push({
      path: "cursor",
      message: "must be the next_cursor of an earlier answer of this list with the same filter",
    });
  }
  return { page: { limit, after }, problems };
}

function readCursor(list: ListIdentity, cursor: string): Page["after"] | undefined {
  const content = cursorContent.safeParse(readCursorContent(cursor));
  if (!content.success) return undefined;
  const [binding, seconds, nanos, id] = content.data;
  if (binding !== bindingOf(list)) return undefined;
  return { createdAt: { seconds: BigInt(seconds), nanos }, id };
}

/** Returns a cursor in the form that clients receive. */
export function writeCursorContent(content: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(content)).toString("base64url");
}

/** Returns the unchecked content of a cursor, or undefined if the text is not a cursor. */
export function readCursorContent(cursor: string): unknown {
  const bytes = Buffer.from(cursor, "base64url");
  return bytes.toString("base64url") === cursor ? parseJson(bytes.toString("utf8")) : undefined;
}

/** Returns the fingerprint of a list that its cursors contain. */
export function bindingOf(list: ListIdentity): string {
  return createHash("sha256").update(JSON.stringify(list)).digest("base64url").slice(0, 16);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
