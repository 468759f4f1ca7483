import { describe, expect, test } from "@jest/globals";
import { createProgressDisplay, progressText } from "./progress-display.ts";

function shown(screen: { isTTY?: boolean; columns?: number }, steps: readonly [atMs: number, done: number][]) {
  let text = "";
  let at = 0;
  const display = createProgressDisplay({
    screen: { ...screen, write: (more) => (text += more) },
    title: "SAM.dat",
    now: () => new Date(at),
  });
  for (const [atMs, done] of steps) {
    at = atMs;
    display.onProgress({ phase: "applying", done, total: 900_000 });
  }
  display.end();
  return text;
}

test.each([
  [
    { phase: "applying", done: 225_000, total: 900_000 },
    50,
    true,
    "applying [######------------------] 25 % (225,000 rows of 900,000 rows, 4,500 rows/s, 2 min 30 s left)",
  ],
  [
    { phase: "checking", done: 5_660_000, total: 566_000_000 },
    0.1,
    false,
    "checking 1 % (5.7 MB of 566 MB, 57 MB/s, 10 s left)",
  ],
  [{ phase: "applying", done: 0, total: 900_000 }, 0, false, "applying 0 % (0 rows of 900,000 rows, 0 rows/s)"],
  [
    { phase: "applying", done: 10, total: 900_000 },
    1,
    false,
    "applying 0 % (10 rows of 900,000 rows, 10 rows/s, 24 h 59 min left)",
  ],
] as const)(
  "progress shows how much is done, how fast, and the remaining time: %j",
  (progress, seconds, withBar, text) => {
    expect(progressText(progress, seconds, withBar)).toBe(text);
  },
);

describe("progress is shown", () => {
  test("on a terminal as a bar that is redrawn in place, within its width", () => {
    const text = shown({ isTTY: true, columns: 40 }, [
      [0, 1],
      [50, 2],
      [1_000, 450_000],
      [1_010, 900_000],
    ]);
    expect(text.split("\r\x1b[2K").slice(1)).toEqual([
      "SAM.dat: applying [--------------------",
      "SAM.dat: applying [############--------",
      "SAM.dat: applying [####################\n",
    ]);
  });

  test("elsewhere as a line every few seconds", () => {
    const text = shown({}, [
      [0, 1],
      [4_000, 2],
      [5_000, 50_000],
      [6_000, 60_000],
      [10_000, 100_000],
    ]);
    expect(text).toBe(
      "SAM.dat: applying 5 % (50,000 rows of 900,000 rows, 10,000 rows/s, 1 min 25 s left)\n" +
        "SAM.dat: applying 11 % (100,000 rows of 900,000 rows, 10,000 rows/s, 1 min 20 s left)\n",
    );
  });
});
