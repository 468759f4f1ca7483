import { describe, expect, test } from "@jest/globals";
import { nameKey } from "./name-key.ts";

describe("spellings of one name count as one", () => {
  test.each([
    ["case and spaces", "  ACME   widgets llc "],
    ["punctuation", "Acme, Widgets L.L.C."],
    ["spaces and hyphens inside words", "Ac me Wid-gets"],
    ["another legal form, or none", "Acme Widgets Incorporated"],
    ["an article", "The Acme Widgets Co"],
    ["the order of words", "Widgets Acme LLC"],
    ["accents", "Ácmé Wïdgéts LLC"],
    ["full-width letters", "Ａｃｍｅ Widgets LLC"],
  ])("%s", (_what, spelling) => {
    expect(nameKey(spelling)).toBe(nameKey("Acme Widgets LLC"));
  });

  test("an ampersand and the word", () => {
    expect(nameKey("Smith & Sons")).toBe(nameKey("Smith and Sons, Inc."));
    expect(nameKey("Smith&Sons")).toBe(nameKey("Smith and Sons"));
  });

  test("text after the characters that are sent", () => {
    const long = "An Extraordinarily Long Business Name Of";
    expect(nameKey(`${long} America`)).toBe(nameKey(`${long} Canada`));
  });
});

describe("different names are different", () => {
  test.each([
    ["Acme Widgets LLC", "Acme Gadgets LLC"],
    ["John Smith", "Jane Smith"],
    ["Route 66 Diner", "Route 67 Diner"],
    ["The Company Inc", "The Corporation"],
    ["株式会社", "有限会社"],
  ])("%s and %s", (one, other) => {
    expect(nameKey(one)).not.toBe(nameKey(other));
  });

  test("a name of nothing but legal forms has a key", () => {
    expect(nameKey("The Limited")).not.toBe("");
  });
});
