import { expect, test } from "@jest/globals";
import { createProgress, progressText } from "./progress.ts";

const job = (total: number, outcomes: { pass?: number; fail?: number; waiting?: number }) => {
  const { pass = 0, fail = 0, waiting = 0 } = outcomes;
  const rest = { error: 0, ambiguous: 0, not_found: 0, conflict: 0, invalid: 0, limit_exceeded: 0 };
  return { total, done: pass + fail, counts: { pass, fail, waiting, ...rest } };
};

test.each([
  [job(4, {}), 0, "0/4"],
  [job(4, { pass: 1, fail: 1 }), 0.001, "2/4  1 pass, 1 fail  2 s left"],
  [job(1_202, { pass: 1, fail: 1 }), 0.001, "2/1202  1 pass, 1 fail  20 min left"],
  [job(3, { pass: 2, waiting: 1 }), 0.001, "2/3  2 pass, 1 waiting"],
  [job(2, { pass: 2 }), 0.001, "2/2  2 pass"],
])("%j at %p rows a millisecond", (given, perMs, text) => {
  expect(progressText(given, perMs)).toBe(text);
});

function progressWith(columns?: number) {
  const written: string[] = [];
  const clock = { ms: 0 };
  const write = (text: string) => written.push(text);
  const terminal = columns === undefined ? undefined : { write, columns };
  return { written, clock, ...createProgress({ terminal, note: write }, () => clock.ms) };
}

test("a terminal shows one line, cut to its width", () => {
  const { written, draw } = progressWith(40);
  draw(job(3, {}));
  draw(job(3, { pass: 2 }));
  expect(written).toEqual([
    "\r[........................] 0/3\u001b[K",
    "\r[################........] 2/3  2 pass \u001b[K",
  ]);
});

test("without a terminal there is a line every 10 seconds", () => {
  const { written, clock, draw, clear } = progressWith();
  for (const [ms, pass] of [
    [0, 0],
    [9_999, 10],
    [10_000, 20],
    [19_999, 30],
    [20_000, 40],
  ] as const) {
    clock.ms = ms;
    draw(job(100, { pass }));
  }
  clear();
  expect(written).toEqual(["20/100  20 pass  40 s left", "40/100  40 pass  30 s left"]);
});
