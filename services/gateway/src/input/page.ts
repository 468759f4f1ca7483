import { createHash } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { z } from "@vvs/config";
import type { Violation } from "@vvs/errors";
import type { PageRequestSchema, Position } from "@vvs/proto/common/v1/common";

export type Page = MessageInitShape<typeof PageRequestSchema>;

/** Parameters of a list that is read forward, oldest first. */
export interface Forward {
  /** Position to read after, or the end at which to begin. */
  readonly after: bigint | End;
  /** How long to wait for the first item, in seconds. */
  readonly waitSeconds: number;
}

export const DEFAULT_LIMIT = 25;
export const MAX_LIMIT = 100;
export const MAX_WAIT_SECONDS = 20;
/** Where to begin without a cursor: with the oldest stored item, or after the newest one. */
export const START = "start";
export const NOW = "now";

type End = typeof START | typeof NOW;

/** Identifies the organization, list and filter of a cursor. The cursor only works for these. */
export type ListIdentity = readonly string[];

const cursorContent = z.tuple([
  z.string(),
  z.int().min(-62_135_596_800).max(253_402_300_799),
  z.int().min(0).max(999_999_999),
  // A run has the id of its monitor and a number.
  z.string().regex(/^[a-z]{3}_[0-9a-z]{26}(:\d{1,15})?$/),
]);
const forwardCursorContent = z.tuple([z.string(), z.literal("forward"), z.int().min(0)]);

/** Returns the cursor of the next page, opaque to clients; null on the last page. */
export function writeCursor(list: ListIdentity, next: Position | undefined): string | null {
  if (!next?.createdAt) return null;
  const { seconds, nanos } = next.createdAt;
  return encode([bindingOf(list), Number(seconds), nanos, next.id]);
}

/** Returns the cursor after a position of a list that is read forward, opaque to clients. */
export function writeForwardCursor(list: ListIdentity, position: bigint): string {
  return encode([bindingOf(list), "forward", Number(position)]);
}

/** Reads the parameters of a list and returns their problems. `forward` is undefined if the list is read newest first. */
export function readPage(
  list: ListIdentity,
  query: { readonly [P in "limit" | "cursor" | "after" | "wait"]?: string | undefined },
): { page: Page; forward: Forward | undefined; problems: Violation[] } {
  const { cursor, after, wait } = query;
  const problems: Violation[] = [];
  const refuse = (path: string, message: string) => problems.push({ path, message });

  const limit = Number(query.limit ?? DEFAULT_LIMIT);
  if (query.limit !== undefined && (!/^[1-9]\d{0,2}$/.test(query.limit) || limit > MAX_LIMIT)) {
    refuse("limit", `must be a whole number from 1 to ${MAX_LIMIT}`);
  }
  const [, seconds, nanos, id] = decode(cursorContent, list, cursor) ?? [];
  if (cursor !== undefined && id === undefined) {
    refuse("cursor", "must be the next_cursor of an earlier answer of this list with the same filter");
  }
  const [, , position] = decode(forwardCursorContent, list, after) ?? [];
  const end = after === START || after === NOW ? after : undefined;
  if (after !== undefined && end === undefined && position === undefined) {
    refuse("after", "must be start, now, or the next_cursor of an earlier answer of this list read with after");
  }
  if (after !== undefined && cursor !== undefined) {
    refuse("after", "must not be sent together with cursor: after reads forward, cursor reads backward");
  }
  if (wait !== undefined && (!/^\d{1,2}$/.test(wait) || Number(wait) > MAX_WAIT_SECONDS)) {
    refuse("wait", `must be a whole number from 0 to ${MAX_WAIT_SECONDS}`);
  }
  if (wait !== undefined && after === undefined) refuse("wait", "must only be sent together with after");

  const createdAt = seconds === undefined ? undefined : { seconds: BigInt(seconds), nanos };
  return {
    page: { limit, after: createdAt && { createdAt, id } },
    forward: after === undefined ? undefined : { after: end ?? BigInt(position ?? 0), waitSeconds: Number(wait ?? 0) },
    problems,
  };
}

function encode(content: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(content)).toString("base64url");
}

/** Returns the content of a cursor of this list; undefined if the text is not one. */
function decode<C extends readonly [string, ...unknown[]]>(
  schema: z.ZodType<C>,
  list: ListIdentity,
  cursor: string | undefined,
): C | undefined {
  const bytes = Buffer.from(cursor ?? "", "base64url");
  if (bytes.toString("base64url") !== cursor) return undefined;
  const content = schema.safeParse(parseJson(bytes.toString("utf8")));
  return content.success && content.data[0] === bindingOf(list) ? content.data : undefined;
}

/** Returns the fingerprint of a list that its cursors contain. */
function bindingOf(list: ListIdentity): string {
  return createHash("sha256").update(JSON.stringify(list)).digest("base64url").slice(0, 16);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
