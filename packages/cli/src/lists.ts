import { type Arguments, wholeNumber } from "./command.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import type { Output } from "./output.ts";

const DEFAULT_LIMIT = "25";
const MAX_LIMIT = 1_000_000;
const LARGEST_PAGE = 100;

/** Option that limits a list. */
export const limitOption = {
  limit: { value: "N", does: `Maximum number of items. Default: ${DEFAULT_LIMIT}.` },
};

/** Reads and prints as many items as --limit allows. Errors: UsageError. */
export async function printList<T extends object>(
  output: Output,
  args: Arguments,
  list: {
    readonly read: (page: { limit: number }) => AsyncIterable<T>;
    readonly text: (items: readonly T[]) => string;
    readonly none?: string;
  },
): Promise<ExitCode> {
  const limit = wholeNumber(args.text("limit") ?? DEFAULT_LIMIT, "limit", 1, MAX_LIMIT);
  const items: T[] = [];
  for await (const item of list.read({ limit: Math.min(limit, LARGEST_PAGE) })) {
    if (items.push(item) === limit) break;
  }
  return printItems(output, items, list);
}

/** Prints items as one line of JSON each or as text, or a remark if there are none. */
export function printItems<T extends object>(
  output: Output,
  items: readonly T[],
  { text, none = "There are none." }: { text: (items: readonly T[]) => string; none?: string },
): ExitCode {
  if (items.length === 0) output.note(none);
  else if (output.json) for (const item of items) output.result(item, () => "");
  else output.result(items, () => text(items));
  return exitCodes.ok;
}
