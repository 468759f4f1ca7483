import { expect, test } from "@jest/globals";
import { regExpSteps } from "./regexp-steps.ts";

const growth = (pattern: RegExp, text: (size: number) => string) =>
  regExpSteps(pattern, text(400)) / regExpSteps(pattern, text(200));

test.each<[RegExp, string, number]>([
  [/abc/, "abc", 4],
  [/abc/, "xxabc", 8],
  [/^abc/, "xxxxxx", 2],
  [/^a*$/, "aaa", 5],
])("%s compares %j in %i steps", (pattern, text, steps) => {
  expect(regExpSteps(pattern, text)).toBe(steps);
});

test.each<[RegExp, (size: number) => string]>([
  [/^a+$/, (size) => `${"a".repeat(size)}b`],
  [/"[^"\\]*(?:\\.[^"\\]*)*"/g, (size) => `"${'\\"'.repeat(size)}"`],
  [/^(?:[a-z]+\.)+[a-z]{2,}$/i, (size) => "a.".repeat(size)],
  [/(?<![\w-])\p{Nd}{9}(?!\d)/gu, (size) => "12345678 ".repeat(size)],
])("%s takes linear time", (pattern, text) => {
  expect(growth(pattern, text)).toBeLessThan(2.2);
});

test.each<[RegExp, (size: number) => string]>([
  [/\s+$/, (size) => `${" ".repeat(size)}x`],
  [/(?:^|,)\s*gzip\s*(?:;\s*q=(?:1|0?\.\d*[1-9]\d*)\s*)?(?:,|$)/i, (size) => `gzip;q=.${"1".repeat(size)}x`],
  [/\bVersion\/\S+ .*\bSafari\//, (size) => "Version/1 ".repeat(size)],
  [/^(.+)\1x$/, (size) => "ab".repeat(size)],
])("%s takes more than linear time", (pattern, text) => {
  expect(growth(pattern, text)).toBeGreaterThan(3);
});
