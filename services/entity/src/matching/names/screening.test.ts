import { describe, expect, test } from "@jest/globals";
import { bearSameName, nameKeys, nameQueryKeys } from "./screening.ts";

const isFound = (name: string, row: string) => nameQueryKeys(name).some((key) => nameKeys(row).includes(key));

describe("an exclusion bears the name of a vendor", () => {
  test.each<[string, string, boolean]>([
    ["Kestrel Marine LLC", "MARINE KESTREL", true],
    ["Smith, John A", "JOHN A SMITH", true],
    ["Kestrel Holdings LLC dba Lorwin Marine", "LORWIN MARINE INC", true],
    ["First Source", "1 SOURCE", true],
    ["SMITH, JOHN V", "JOHN V SMITH", true],
    ["Smith, John X", "JOHN X SMITH", true],
    ["XI, WEI", "WEI XI", true],
    ["Sia, William", "WILLIAM SIA", true],
    ["Example, P A", "P A EXAMPLE", true],
    ["Walmart Stores", "WAL-MART STORES INC", true],
    ["John O'Brien", "JOHN O BRIEN", true],
    ["McDonald, Pat", "PAT MC DONALD", true],
    ["First Energy", "FIRSTENERGY", true],
    ["Lorwin Construction Company", "LORWIN CONST CO", true],
    ["Lorwin Construction & Equipment", "LORWIN CONST EQUIP", true],
    ["Kestrel Technologies LLC", "KESTREL TECH LLC", true],
    ["Saint Marys", "ST MARYS", true],
    ["John Q. Smith, M.D.", "JOHN Q SMITH", true],
    ["Dr. John Q Smith", "JOHN Q SMITH", true],
    ["John Q Smith MD PC", "JOHN Q SMITH", true],
    ["Smith, John Q., Ph.D.", "JOHN Q SMITH", true],
    ["John Q Smith", "JOHN Q SMITH DDS", true],
    ["Kestrel Holdings (DBA Lorwin Marine)", "LORWIN MARINE", true],
    ["Kestrel Holdings/DBA Lorwin Marine", "KESTREL HOLDINGS", true],
    ["Kestrel Holdings [aka Lorwin Marine]", "LORWIN MARINE", true],
    ["Kestrel Holdings f/d/b/a Lorwin Marine", "KESTREL HOLDINGS", true],
    ["Saint Marys", "ST MARY", false],
    ["Kim Do", "KIM", false],
    ["John Smith", "JOHN SMITH DOLAN", false],
    ["Kestrel Tech", "KESTREL TECHNICIANS", false],
    ["Harbor 1 2", "HARBOR 12", false],
    ["Kestrel Marine LLC", "KESTREL MARINE INC", false],
    ["Kestrel Marine", "KESTREL", false],
    ["!!!", "???", false],
  ])("%s: %s: %s", (name, row, expected) => {
    expect(bearSameName(name, row)).toBe(expected);
    expect(bearSameName(row, name)).toBe(expected);
    if (expected) expect([isFound(name, row), isFound(row, name)]).toEqual([true, true]);
  });

  test("which is looked for by a bounded number of keys", () => {
    const long = "Consolidated Northwestern Construction, Communications, Technology & Engineering";
    expect(nameQueryKeys(long).length).toBeLessThanOrEqual(40);
  });

  test("is also looked for by the whole text, the only key that older rows have", () => {
    expect(nameQueryKeys("Kestrel (DBA Lorwin)")).toContain("dba kestrel lorwin");
  });

  test("which is found by a key that both have", () => {
    const wordsOf = (name: string) => nameKeys(name).filter((key) => !key.startsWith("~"));
    expect(wordsOf("Kestrel Holdings LLC dba A+ Lorwin")).toEqual(["holdings kestrel", "a lorwin"]);
    expect(wordsOf("LORWIN & A INC.")).toEqual(["a lorwin"]);
  });
});
