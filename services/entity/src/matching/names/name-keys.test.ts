import { describe, expect, test } from "@jest/globals";
import { candidateKeys, exactKeys, queryKeys } from "./name-keys.ts";
import { normalizeName } from "./normalize-name.ts";

const meets = (query: string, name: string) => {
  const stored = new Set(candidateKeys(normalizeName(name)));
  return queryKeys(normalizeName(query)).findIndex((tier) => tier.some((key) => stored.has(key)));
};

describe("a name is found by its keys", () => {
  test.each<[string, string, string]>([
    ["unchanged", "Northfork Timber LLC", "NORTHFORK TIMBER, LLC"],
    ["under another legal form", "Northfork Timber Inc", "NORTHFORK TIMBER, LLC"],
    ["in another order", "Timber Northfork", "NORTHFORK TIMBER, LLC"],
    ["joined", "Bluesky LLC", "BLUE SKY LLC"],
    ["split", "Blue Sky LLC", "BLUESKY LLC"],
    ["with a letter changed", "Nortxfork", "NORTHFORK LLC"],
    ["with a letter missing", "Norhfork", "NORTHFORK LLC"],
    ["with a letter too many", "Norrthfork", "NORTHFORK LLC"],
    ["with letters swapped", "Nrothfork", "NORTHFORK LLC"],
    ["with its last letters wrong", "Northfrok", "NORTHFORK LLC"],
    ["with a short word mistyped", "Acne", "ACME"],
    ["with a common word mistyped", "Chicago Constrpuction Group", "CHICAGO CONSTRUCTION GROUP, INC."],
    ["when all its words are common", "Natoinal General Services", "National General Services"],
  ])("%s", (_, query, name) => expect(meets(query, name)).not.toBe(-1));

  test("for every single error in a rare word", () => {
    const word = "kestrel";
    for (let at = 0; at < word.length; at++) {
      for (const typed of [
        word.slice(0, at) + word.slice(at + 1),
        `${word.slice(0, at)}z${word.slice(at + 1)}`,
        `${word.slice(0, at)}z${word.slice(at)}`,
      ]) {
        expect([typed, meets(typed, "KESTREL LLC")]).not.toEqual([typed, -1]);
      }
    }
  });

  test("first by the whole name, and never by an empty name", () => {
    expect(meets("Northfork Timber", "NORTHFORK TIMBER, LLC")).toBe(0);
    expect(meets("Amberfield", "NORTHFORK TIMBER, LLC")).toBe(-1);
    expect(queryKeys(normalizeName("!!!"))).toEqual([]);
  });
});

test("names that agree share a key of exact look-ups", () => {
  const stored = candidateKeys(normalizeName("MCDOUGALL, SANDRA A"));
  expect(exactKeys(normalizeName("Sandra A McDougall")).some((key) => stored.includes(key))).toBe(true);
});

test("even a long name has few keys", () => {
  const long = normalizeName(Array.from({ length: 60 }, (_, index) => `longword${index}`).join(" "));
  expect(candidateKeys(long).length).toBeLessThanOrEqual(96);
  expect(Math.max(...queryKeys(long).map((tier) => tier.length))).toBeLessThanOrEqual(96);
});
