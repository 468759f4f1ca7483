import { describe, expect, test } from "@jest/globals";
import { normalizeName } from "./normalize-name.ts";

describe("a normalized name", () => {
  test.each<[string, string, string[]]>([
    ["LEIDOS, INC.", "leidos", ["inc"]],
    ["The Procter & Gamble Company", "procter and gamble", ["co"]],
    ["Łódź Straße GmbH", "lodz strasse", ["gmbh"]],
    ["J. C. Penney L.L.C.", "jc penney", ["llc"]],
    ["BLUE SKY L L C", "blue sky", ["llc"]],
    ["Harbor Fund X L P", "harbor fund 10", ["lp"]],
    ["Pacific Mfg Co., Ltd.", "pacific manufacturing", ["co", "ltd"]],
    ["Acme Limited Liability Company", "acme", ["llc"]],
    ["FECHHEIMER BROTHERS COMPANY, THE", "fechheimer brothers", ["co"]],
    ["JPMorgan Chase & Co.", "jpmorgan chase", ["co"]],
    ["N.V. Nutricia", "nutricia", ["nv"]],
    ["2nd Street Intl Svcs", "2 street international services", []],
    ["Second Street International Services", "2 street international services", []],
    ["Harbor Partners III LP", "harbor partners 3", ["lp"]],
    ["Company, Inc.", "company", ["inc"]],
    ["Moody's", "moodys", []],
    ["3M", "3m", []],
    ["🚀 Rocket® Widgets™ LLC", "rocket widgets", ["llc"]],
    ["Forty Four Winds Inc", "44 winds", ["inc"]],
    ["Ninety Winds Inc", "90 winds", ["inc"]],
    ["5% Lending LLC", "5 percent lending", ["llc"]],
    ["Smith &amp; Sons", "smith and sons", []],
    ["O&amp;#39;Brien &AMP Sons", "obrien and sons", []],
    ["NestlÃ© USA", "nestle usa", []],
    ["Lorwin Industriesb.v.", "lorwin industries", ["bv"]],
    ["LorwinElectronicsN. V.", "lorwinelectronics", ["nv"]],
    ["Lorwin Assoc. P. C.", "lorwin associates", ["pc"]],
    ["Lorwin S.p.A.", "lorwin", ["spa"]],
    ["S.P.A. Construction Inc", "spa construction", ["inc"]],
    ["Kestrel Spa", "kestrel spa", []],
    ["Société dite: Lorwin", "lorwin", []],
    ["Société Dite", "societe dite", []],
    ["Lorwin I{umlaut over (n)}ternational", "lorwin international", []],
    ["Naamlooze Vennootschap Lorwin", "lorwin", ["nv"]],
    ["Lorwin Closed Joint Stok Company", "lorwin", ["zao"]],
    ["OJSC Lorwin", "lorwin", ["oao"]],
    ["National Association of Nurses", "national association of nurses", []],
    ["Lorwin Inc., a Delaware corporation", "lorwin inc a delaware", ["corp", "inc"]],
    ["LUKOIL OIL COMP", "lukoil oil", ["co"]],
    ["Lorwin Limited Liability Comp", "lorwin", ["llc"]],
    ["Lorwin Public Joint-Stock Comp.", "lorwin", ["pao"]],
    ["Lorwin Comp Ltd", "lorwin", ["co", "ltd"]],
    ["Lorwin Comp Repair Inc", "lorwin computer repair", ["inc"]],
    ["Corp Services LLC", "corporation services", ["llc"]],
    ["Kestrel Int LLC", "kestrel international", ["llc"]],
    ["Int Kestrel LLC", "int kestrel", ["llc"]],
    ["Kestrel Ent, Inc., a Delaware company", "kestrel enterprises inc a delaware", ["co", "inc"]],
    ["ENT Associates", "ent associates", []],
    ["MAN Truck Inc", "man truck", ["inc"]],
    ["S.C. Lorwin S.R.L.", "lorwin", ["srl"]],
    ["SC Lorwin Inc", "sc lorwin", ["inc"]],
    ["PT Lorwin (Persero) Tbk", "lorwin", ["persero", "tbk"]],
    ["PT Lorwin LLC", "pt lorwin", ["llc"]],
    ["Công ty TNHH Lorwin", "lorwin", ["tnhh"]],
    ["Công ty Cổ phần Lorwin", "lorwin", ["jsc"]],
    ["Lorwin Sp. z o.o.", "lorwin", ["spzoo"]],
    ["OÜ Lorwin", "lorwin", ["ou"]],
    ["ООО «Ромашка»", "romashka", ["ooo"]],
    ["Ромашка, ПАО", "romashka", ["pao"]],
    ["Общество с ограниченной ответственностью Ромашка", "romashka", ["ooo"]],
    ["ТОВ Київ", "kiiv", ["ooo"]],
    ["บริษัท ปตท จำกัด", "ptth", ["co", "ltd"]],
    ["บริษัทปตทจำกัด(มหาชน)", "ptth", ["co", "ltd", "plc"]],
    ["华为技术有限公司", "huaweijishu", ["co", "ltd"]],
    ["株式会社日立製作所", "rilizhizuosuo", ["kk"]],
    ["日立製作所㈱", "rilizhizuosuo", ["kk"]],
    ["주식회사 카카오", "kakao", ["co", "ltd"]],
    ["(주)카카오", "kakao", ["co", "ltd"]],
    ["شركة المراعي", "lmry", ["co"]],
    ["المراعي ش.م.ع", "lmry", ["jsc"]],
    ['בע"מ תנובה', "tnvvh", ["ltd"]],
    ["შპს ალფა", "alpa", ["ooo"]],
    ["ΑΛΦΑ Α.Ε.", "alfa", ["sa"]],
    ["टाटा प्राइवेट लिमिटेड", "tata", ["ltd", "pvt"]],
    ["株式会社", "zhushihuishe", []],
    ["...", "", []],
  ])("%s is %j with %j", (name, key, legalForms) => {
    expect(normalizeName(name)).toMatchObject({ key, legalForms });
  });

  test.each<[string, number]>([
    ["Lorwin N.V., Delft, NL", 1],
    ["Kestrel Marine Inc, a Delaware corporation", 2],
    ["Naamloze Vennootschap Lorwin, Delft, NL", 1],
    ["Kestrel Marine, Boston", 3],
    ["Inc Magazine", 2],
  ])("of %s has a qualifier from word %d on", (name, from) => {
    expect(normalizeName(name).qualifierFrom).toBe(from);
  });

  test.each<[string, string[]]>([
    ["Kestrel Holdings LLC d/b/a Lorwin Marine", ["kestrel holdings", "lorwin marine"]],
    ["KESTREL HOLDINGS DBA LORWIN MARINE", ["kestrel holdings", "lorwin marine"]],
    ["Lorwin Marine, formerly known as Kestrel Boats", ["lorwin marine", "kestrel boats"]],
    ["Lorwin Marine f/k/a Kestrel Boats", ["lorwin marine", "kestrel boats"]],
    ["Lorwin Marine c/o Harbor Trust", ["lorwin marine"]],
    ["Daka Boats Inc", []],
  ])("%s contains the names %j", (name, keys) => {
    expect(normalizeName(name).alternatives.map(({ key }) => key)).toEqual(keys);
  });

  test("reads an abbreviation with several meanings in each way", () => {
    expect(normalizeName("St Paul Assoc").keys).toEqual(
      expect.arrayContaining(["saint paul associates", "street paul association"]),
    );
  });

  test("has few readings and words for any input", () => {
    const name = normalizeName("st assoc comm tech eng ".repeat(50));
    expect(name.keys.length).toBeLessThanOrEqual(8);
    expect(name.coreTokens.length).toBeLessThanOrEqual(24);
  });
});
