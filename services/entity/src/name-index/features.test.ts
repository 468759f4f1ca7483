import { expect, test } from "@jest/globals";
import { bagOf } from "./features.ts";

test("names of one word each have hashes of their own", () => {
  const hashes = Array.from({ length: 10_000 }, (_, word) => bagOf([word]));
  expect(new Set(hashes).size).toBeGreaterThan(9_990);
});

test("the order of words makes no difference, another word does", () => {
  expect(bagOf([7, 70_000, 12])).toBe(bagOf([12, 7, 70_000]));
  expect(bagOf([7, 70_000, 12])).not.toBe(bagOf([7, 70_000, 13]));
  expect(bagOf([7, 70_000])).not.toBe(bagOf([7, 70_000, 12]));
});
