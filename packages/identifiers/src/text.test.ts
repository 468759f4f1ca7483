import { expect, test } from "@jest/globals";
import { containsTin, maskTins } from "./index.ts";
import { textProblem, visibleRanges } from "./text.ts";

test.each([
  "Acme Tools, Inc. & Söhne – “Nº 5”",
  "株式会社アクメ",
  "شركة أكمي\u200f",
  "🏭",
  "e\u0301toile",
  "क्\u200dष",
  ".",
])("%j is a name", (text) => {
  expect(textProblem(text)).toBeUndefined();
});

test.each([
  ["\u0000", "control"],
  ["a\tb", "control"],
  ["1 Main St\nSpringfield", "control"],
  ["a\u007f", "control"],
  ["a\u0085b", "control"],
  ["a\u2028b", "control"],
  ["Acme \u202eCLL", "direction"],
  ["a\u2066b\u2069", "direction"],
  ["\u200b", "visible"],
  ["\u00a0\u3000", "visible"],
  ["\u3164", "visible"],
  ["\u2800", "visible"],
  ["\u0301", "visible"],
  ["\ufe0f\u{e0041}", "visible"],
  ["\u00ad\ufeff", "visible"],
  ["", "visible"],
  ["a\ud800", "Unicode"],
])("%j is refused, and the message says why (%s)", (text, word) => {
  expect(textProblem(text)).toMatch(word);
});

test("the ranges contain every letter, digit, punctuation mark and symbol, and nothing that is shown as nothing", () => {
  const isVisible = (code: number) => visibleRanges.some(([first, last]) => first <= code && code <= last);
  const wrong = Array.from({ length: 0x110000 }, (_, code) => code).filter((code) => {
    const character = String.fromCodePoint(code);
    if (/[\p{Z}\p{Cc}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}\u2800]/u.test(character)) return isVisible(code);
    return /[\p{L}\p{N}\p{P}\p{S}]/u.test(character) && !isVisible(code);
  });
  expect(wrong).toEqual([]);
});

const zeros = ["0", "\uff10", "\u0660", "\u0966", "\u{1d7ce}", "\u{1fbf0}"];
const separators = [
  ..."-./_\\\u00a0\u00b7\u2010\u2011\u2012\u2013\u2014\u2212\u2022\u2024\u2027\u2044\u2215\u30fb\uff0e\uff0f\uff0d\u3000 ",
];
const digitsFrom = (zero: string) => (text: string) =>
  text.replaceAll(/\d/g, (digit) => String.fromCodePoint(zero.codePointAt(0)! + Number(digit)));

test.each(zeros)("a TIN is found and masked in digits from %s, with every separator", (zero) => {
  const write = digitsFrom(zero);
  const spellings = ["123456789", ...separators.flatMap((one) => [`12${one}3456789`, `123${one}45${one}6789`])];
  for (const spelling of [...spellings, "12 - 3456789", "1\u200b2345678\u03019"]) {
    const text = `Acme (${write(spelling)}) LLC`;
    expect([text, containsTin(text)]).toEqual([text, true]);
    const masked = maskTins(text);
    expect(masked).toMatch(/^Acme \(\*\*\*\*[^*]+\) LLC$/u);
    expect(masked.match(/\p{Nd}/gu)).toEqual([...write("6789")]);
    expect(containsTin(masked)).toBe(false);
  }
});

test.each([
  "1234567890",
  "12345678",
  "9876-5432 Quebec Inc",
  "12345-6789",
  "1.2.3.4 5 6789",
  "555-123-4567",
  "(212) 555-0123",
  "12, 3456789",
  "2026-11-22",
  "１２３４５６７８９０",
  "Route 66, Unit 12/34",
])("%j is not a TIN", (text) => {
  expect(containsTin(text)).toBe(false);
  expect(maskTins(text)).toBe(text);
});
