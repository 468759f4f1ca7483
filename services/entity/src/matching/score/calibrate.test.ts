import { describe, expect, test } from "@jest/globals";
import { createIdf } from "../names/idf.ts";
import { normalizeName } from "../names/normalize-name.ts";
import { scoreName } from "../names/score-name.ts";
import { evidenceOf, nameConfidences } from "./calibrate.ts";

/** A registry of a million names in which "harbor" and "supply" are frequent words. */
const counts: Readonly<Record<string, number>> = {
  ...{ harbor: 4_000, supply: 12_000, services: 60_000, group: 40_000 },
  // Nobody's name.
  ...{ kestrelwod: 0, harbur: 0, ponch: 0 },
};
const idf = createIdf({ nameCount: 1_000_000, namesWith: (word) => counts[word] ?? 3 });
const confidencesOf = (query: string, ...candidates: string[]) =>
  nameConfidences(candidates.map((name) => scoreName(normalizeName(query), normalizeName(name), idf)));
const confidenceOf = (query: string, ...candidates: string[]) => confidencesOf(query, ...candidates)[0]!;

describe("the confidence by name only", () => {
  test.each<[string, string, string, number, number]>([
    ["a rare name", "Kestrelwood Marine LLC", "KESTRELWOOD MARINE, L.L.C.", 0.97, 0.99],
    ["a rare name without its legal form", "Kestrelwood Marine", "KESTRELWOOD MARINE LLC", 0.95, 0.99],
    ["a rare name with another legal form", "Kestrelwood Marine Inc", "KESTRELWOOD MARINE LLC", 0.8, 0.99],
    ["a typing error in a rare name", "Kestrelwod Marine LLC", "KESTRELWOOD MARINE LLC", 0.8, 0.99],
    ["a frequent name", "Harbor Services Inc", "HARBOR SERVICES INC", 0.8, 0.97],
    ["a frequent name with another legal form", "Harbor Services Inc", "HARBOR SERVICES LLC", 0.2, 0.6],
    ["a frequent name with an error and another form", "Harbur Services Inc", "HARBOR SERVICES LLC", 0, 0.9],
    ["an additional word", "Kestrelwood Marine LLC", "KESTRELWOOD MARINE SUPPLY LLC", 0.6, 0.99],
    ["only common words", "Zenlo Supply Group", "ABRAX SUPPLY GROUP", 0, 0.3],
    ["another number", "Harbor Supply 12 LLC", "HARBOR SUPPLY 21 LLC", 0, 0.6],
  ])("%s: %s / %s", (_, query, candidate, least, most) => {
    expect(confidenceOf(query, candidate)).toBeGreaterThanOrEqual(least);
    expect(confidenceOf(query, candidate)).toBeLessThanOrEqual(most);
  });

  test.each<[string, string, string]>([
    ["Thai", "บริษัท ปตท จำกัด", "บริษัท ทรู จำกัด"],
    ["Thai without spaces", "บริษัทปตทจำกัด", "บริษัททรูจำกัด"],
    ["Chinese", "中国移动通信集团有限公司", "中国联通通信集团有限公司"],
    ["Chinese, of one sound", "宏达科技有限公司", "鸿达科技有限公司"],
    ["Japanese", "株式会社日立製作所", "株式会社神戸製鋼所"],
    ["Korean", "주식회사 삼성전자", "주식회사 삼성전기"],
    ["Arabic", "شركة المراعي", "شركة السلام"],
    ["Cyrillic", "ООО Ромашка", "ООО Василёк"],
    ["Cyrillic, with the form at the end", "Ромашка ПАО", "Василёк ПАО"],
    ["Vietnamese", "Công ty TNHH Vinamilk", "Công ty TNHH Hoa Sen"],
    ["Indonesian", "PT Astra Tbk", "PT Gudang Garam Tbk"],
    ["Romanian", "S.C. Dacia S.R.L.", "S.C. Petrom S.R.L."],
    ["a form that is not known, at the start", "Xqz Kestrel", "Xqz Amberfield"],
    ["a form that is not known, at the end", "Kestrel Xqzt", "Amberfield Xqzt"],
    ["a form of two words that is not known", "Xqz Vrt Kestrel", "Xqz Vrt Amberfield"],
    ["a form that is not known, in a script that is", "ΞΨΩ ΑΛΦΑ", "ΞΨΩ ΒΗΤΑ"],
    ["a rare word in common", "Kestrelwood Marine LLC", "Kestrelwood Plumbing LLC"],
  ])("is none where the distinctive words disagree: %s", (_, query, candidate) => {
    expect(confidenceOf(query, candidate)).toBeLessThan(0.2);
    expect(confidenceOf(candidate, query)).toBeLessThan(0.2);
  });

  test.each<[string, string]>([
    ["S.C. Dacia S.R.L.", "Dacia SRL"],
    ["PT Astra Tbk", "Astra"],
    ["AB Kestrelwood", "Kestrelwood AB"],
    ["ООО Ромашка", "Romashka"],
    ["บริษัท ปูนซิเมนต์ไทย จำกัด", "ปูนซิเมนต์ไทย"],
    ["華為技術有限公司", "華為技術"],
    ["株式会社日立製作所", "日立製作所株式会社"],
  ])("is high whatever the end at which the legal form is: %s / %s", (query, candidate) => {
    expect(confidenceOf(query, candidate)).toBeGreaterThan(0.8);
    expect(confidenceOf(candidate, query)).toBeGreaterThan(0.8);
  });

  test("is not sure where the query has a word more that says who or what a company is", () => {
    const record = "KESTRELWOOD MARINE LLC";
    for (const added of ["Amber", "Plumbing", "Boston"]) {
      expect(confidenceOf(`Kestrelwood Marine ${added} LLC`, record)).toBeGreaterThan(0.5);
      expect(confidenceOf(`Kestrelwood Marine ${added} LLC`, record)).toBeLessThan(0.8);
    }
    expect(confidenceOf("Kestrelwood Marine Group LLC", record)).toBeGreaterThan(0.9);
    expect(confidenceOf(record, "Kestrelwood Marine Amber LLC")).toBeGreaterThan(0.9);
  });

  test("is lower where the word that seems mistyped is a word of other names", () => {
    const [mistyped, known] = ["Ponch Kestrelwood", "Punch Kestrelwood"].map((name) =>
      confidenceOf(name, "Pinch Kestrelwood"),
    );
    expect(mistyped).toBeGreaterThan(0.8);
    expect(known).toBeLessThan(0.75);
  });

  test("rises with the lead over the next", () => {
    const ahead = confidenceOf("Kestrelwood Marine LLC", "KESTRELWOOD MARINE LLC", "KESTRELWELL DIVERS INC");
    const near = confidenceOf("Kestrelwood Marine LLC", "KESTRELWOOD MARINE LLC", "KESTRELWOOD MARINE SUPPLY LLC");
    const equal = confidenceOf("Kestrelwood Marine LLC", "KESTRELWOOD MARINE LLC", "KESTRELWOOD MARINE LLC");
    expect(ahead).toBeGreaterThan(near);
    expect(near).toBeGreaterThan(equal);
  });

  test("is below 0.5 for each of many similar candidates", () => {
    const names = ["Harbor Supply LLC", "Harbor Supply Inc", "Harbor Supply Corp", "Harbor Supply LP"];
    for (const confidence of confidencesOf("Harbor Supply", ...names)) expect(confidence).toBeLessThan(0.5);
  });

  test("is the same for names that tie, and lower for the next", () => {
    const [first, second, third] = confidencesOf(
      "Harbor Supply",
      "Harbor Supply LLC",
      "Harbor Supply Inc",
      "Harbor Supply Group LLC",
    );
    expect(first).toBe(second);
    expect(third).toBeLessThan(first!);
  });

  test("is higher for the legal form of the query, regardless of the order", () => {
    const [llc, inc] = confidencesOf("Harbor Supply Inc", "Harbor Supply LLC", "Harbor Supply, Inc.");
    expect(inc).toBeGreaterThan(llc!);
  });

  test("stays below that of an identifier", () => {
    const [confidence] = nameConfidences([{ score: 1, information: 100, features: {} }]);
    expect(confidence).toBeGreaterThan(0.98);
    expect(confidence).toBeLessThanOrEqual(0.99);
  });

  test("rises with the evidence and never falls", () => {
    const names = Array.from({ length: 99 }, (_, index) => ({
      score: (index + 1) / 100,
      information: index / 40,
      features: {},
    }));
    const evidence = names.map(evidenceOf);
    expect(evidence).toEqual(evidence.toSorted((a, b) => a - b));
    const alone = names.map((name) => nameConfidences([name])[0]!);
    expect(alone).toEqual(alone.toSorted((a, b) => a - b));
    const together = nameConfidences(names);
    expect(together).toEqual(together.toSorted((a, b) => a - b));
  });

  test("of no candidates is empty", () => {
    expect(nameConfidences([])).toEqual([]);
  });
});
