import { describe, expect, test } from "@jest/globals";
import { containsTin, isWellFormed, maskTins, normalizeIdentifier } from "./index.ts";

describe("identifiers", () => {
  test.each([
    ["uei", " ue9q-jd4k k1l6 ", "UE9QJD4KK1L6", true],
    ["uei", "UE9QJD4KK1L", "UE9QJD4KK1L", false],
    ["cage", "5ute1", "5UTE1", true],
    ["duns", "15-048-3782", "150483782", true],
    ["tin", "12-3456789", "123456789", true],
    ["tin", "12\u20133456789", "123456789", true],
    ["tin", "12-345678X", "12345678X", false],
  ] as const)("%s %j is stored as %s, well-formed: %s", (type, written, normalized, wellFormed) => {
    expect(normalizeIdentifier(written)).toBe(normalized);
    expect(isWellFormed(type, normalized)).toBe(wellFormed);
  });

  test.each([
    ["Acme 123456789", "Acme ****6789"],
    ["Acme 12-3456789 LLC", "Acme ****6789 LLC"],
    ["SSN:123-45-6789.", "SSN:****6789."],
    ["Acme 12\u20133456789", "Acme ****6789"],
    ["Acme 123\u00a045\u201167\u201289", "Acme 123\u00a045\u201167\u201289"],
    ["Acme 123\u00a045\u20116789", "Acme ****6789"],
    ["9876-5432 Quebec Inc", "9876-5432 Quebec Inc"],
    ["1234567890 Holdings", "1234567890 Holdings"],
    ["ent_01h2xcejqtf2nbrexx3vqjhp41", "ent_01h2xcejqtf2nbrexx3vqjhp41"],
  ])("text that looks like a TIN in %j is found and masked", (text, masked) => {
    expect(maskTins(text)).toBe(masked);
    expect(containsTin(text)).toBe(text !== masked);
  });

  test("is found in a free text also as HTML entities", () => {
    expect(containsTin("Acme &#52;&#55;1829360 Inc")).toBe(true);
    expect(containsTin("Acme &#52;&#55;182936 Inc")).toBe(false);
  });
});
