import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { expect, test } from "@jest/globals";
import { mergeTimeline, positionIn, type TimelineItem } from "./timeline.ts";

const PAGE_SIZE = 20;
const item = (id: string, minute: number) => ({ id, at: new Date(Date.UTC(2026, 10, 23, 9, minute)) }) as TimelineItem;

/** A list as its service keeps it, newest first, ties by id; read like the services read it. */
function listOf(prefix: string, items: readonly TimelineItem[]) {
  const sorted = [...items].sort((a, b) => b.at.getTime() - a.at.getTime() || (a.id < b.id ? 1 : -1));
  return (after: Parameters<typeof positionIn>[1]) => {
    const position = positionIn(prefix, after);
    const at = position && timestampDate(position.createdAt!).getTime();
    const rest = sorted.filter(
      (each) => !position || each.at.getTime() < at! || (each.at.getTime() === at && each.id < position.id),
    );
    return { items: rest.slice(0, PAGE_SIZE), hasMore: rest.length > PAGE_SIZE };
  };
}

test("pages of a timeline show each item of every list once, newest first, also where all have the same time", () => {
  const lists = (["ver", "evt", "dlv", "snp"] as const).map((prefix, list) =>
    listOf(
      prefix,
      Array.from({ length: 13 + list * 17 }, (_, index) =>
        item(`${prefix}_${String(index).padStart(3, "0")}`, index % 3),
      ),
    ),
  );
  const seen: TimelineItem[] = [];
  let after: Parameters<typeof positionIn>[1];
  for (let pages = 0; pages < 20; pages++) {
    const { items, next } = mergeTimeline(lists.map((read) => read(after)));
    seen.push(...items);
    after = next;
    if (!after) break;
    expect(items).toHaveLength(PAGE_SIZE);
  }
  expect(seen).toHaveLength(13 * 4 + 17 * 6);
  expect(new Set(seen.map(({ id }) => id)).size).toBe(seen.length);
  const times = seen.map(({ at }) => at.getTime());
  expect(times).toEqual([...times].sort((a, b) => b - a));
});

test("a list continues at the position of its own kind", () => {
  const after = { createdAt: timestampFromDate(new Date(0)), id: "evt_5" };
  expect(positionIn("evt", after)).toBe(after);
  expect(positionIn("ver", after)).toEqual({ ...after, id: "ver_" });
  expect(positionIn("dlv", after)).toEqual({ ...after, id: "dlv_~" });
  expect(positionIn("ver", undefined)).toBeUndefined();
});
