import { expect, test } from "@jest/globals";
import { createProgress, progressLine } from "./progress.ts";

const none = { pass: 0, fail: 0, error: 0, refused: 0 };

test.each([
  [none, 4, 0, "[........................] 0/4  0 pass"],
  [{ ...none, pass: 1, fail: 1 }, 4, 0.001, "[############............] 2/4  1 pass, 1 fail  2 s left"],
  [
    { ...none, error: 1, refused: 1 },
    1_202,
    0.001,
    "[........................] 2/1202  0 pass, 1 error, 1 refused  20 min left",
  ],
  [{ ...none, pass: 2 }, 2, 0.001, "[########################] 2/2  2 pass"],
  [none, 0, 0, "[########################] 0/0  0 pass"],
])("%j of %p rows", (counts, total, perMs, line) => {
  expect(progressLine(counts, { total, perMs })).toBe(line);
});

test("a terminal shows one line, redrawn at most ten times a second and at the end", () => {
  const written: string[] = [];
  const clock = { ms: 0 };
  const terminal = { write: (text: string) => written.push(text), columns: 40 };
  const progress = createProgress({ terminal, total: 3, now: () => clock.ms });
  progress.draw(none);
  progress.draw({ ...none, pass: 1 });
  clock.ms = 100;
  progress.draw({ ...none, pass: 2 });
  progress.draw({ ...none, pass: 3 });
  expect(written).toHaveLength(3);
  expect(written.every((text) => text.startsWith("\r") && text.length <= 44)).toBe(true);
});
