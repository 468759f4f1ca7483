import { expect, test } from "@jest/globals";
import { bagOf } from "./hash.ts";

test("different words have different hashes", () => {
  const hashes = Array.from({ length: 10_000 }, (_, word) => bagOf([word]));
  expect(new Set(hashes).size).toBeGreaterThan(9_990);
});

test("the order of words does not change the hash, another word does", () => {
  expect(bagOf([7, 70_000, 12])).toBe(bagOf([12, 7, 70_000]));
  expect(bagOf([7, 70_000, 12])).not.toBe(bagOf([7, 70_000, 13]));
  expect(bagOf([7, 70_000])).not.toBe(bagOf([7, 70_000, 12]));
});
