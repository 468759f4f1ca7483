import { expect, test } from "@jest/globals";
import { osaDistance } from "../matching/osa-distance.ts";
import { createNeighbourhood, errorsAllowed } from "./neighbourhood.ts";

/** Short words of few letters and digits, so that many are similar, and some very long ones. */
function madeUpWords(count: number): string[] {
  let state = 1;
  const below = (limit: number) => {
    state = (Math.imul(state, 48_271) >>> 0) % 0x7fff_ffff;
    return state % limit;
  };
  const words = Array.from({ length: count }, () => {
    const letters = Array.from({ length: 3 + below(7) }, () => "abcz19"[below(6)]);
    return `${below(9) === 0 ? "longbeginning".repeat(3) : ""}${letters.join("")}`;
  });
  return [...new Set(words)];
}

test("every word within the allowed errors and with the same beginning is found once, and none beyond them", () => {
  const words = madeUpWords(3_000);
  const half = words.length >>> 1;
  const neighbourhood = createNeighbourhood(half, (id) => words[id]!);
  for (let id = half; id < words.length; id++) neighbourhood.add(id);
  let matches = 0;
  for (const word of words.slice(0, 300)) {
    const found = new Map<string, number>();
    neighbourhood.near(word, (id, errors) => {
      expect(found.has(words[id]!)).toBe(false);
      found.set(words[id]!, errors);
    });
    for (const other of words) {
      const allowed = errorsAllowed(Math.max(word.length, other.length));
      const errors = osaDistance(word, other, allowed);
      const isNear = errors > 0 && errors <= allowed;
      if (found.has(other)) expect([other, isNear, errors]).toEqual([other, true, found.get(other)]);
      // A word of four or more letters with the same beginning must be found; a word with only the same end may be found.
      else if (isNear && Math.min(word.length, other.length) > 3 && word.slice(0, 7) === other.slice(0, 7)) {
        throw new Error(`${other} was not found for ${word}`);
      }
    }
    matches += found.size;
  }
  expect(matches).toBeGreaterThan(500);
});
