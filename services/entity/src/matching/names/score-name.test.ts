import { describe, expect, test } from "@jest/globals";
import { osaDistance } from "../osa-distance.ts";
import { createIdf, generalIdf } from "./idf.ts";
import { normalizeName } from "./normalize-name.ts";
import { scoreName, weighDifferences } from "./score-name.ts";
import { tokenSimilarity } from "./token-similarity.ts";

const score = (a: string, b: string) => scoreName(normalizeName(a), normalizeName(b), generalIdf).score;

describe("the score of two names", () => {
  test.each<[string, string, string, number, number]>([
    ["equal", "LEIDOS, INC.", "Leidos Incorporated", 0.95, 1],
    ["case and punctuation", "blackrock inc", "BlackRock, Inc.", 0.95, 1],
    ["no legal form on one side", "Blue Ridge Timber", "BLUE RIDGE TIMBER LLC", 0.95, 1],
    ["word order", "Timber Blue Ridge LLC", "BLUE RIDGE TIMBER LLC", 0.9, 0.97],
    ["word order of common words only", "Group National Services", "National Services Group", 0.9, 0.97],
    ["words joined", "Bluesky Aviation LLC", "BLUE SKY AVIATION LLC", 0.93, 1],
    ["words split", "van der bilt corp", "VANDERBILT CORP", 0.93, 1],
    ["abbreviations", "Northfork Intl Mfg Inc", "Northfork International Manufacturing, Inc.", 0.95, 1],
    ["one typing error", "Nothfork Manufacturing Inc", "Northfork Manufacturing, Inc.", 0.75, 0.98],
    ["two typing errors", "Nothfork Manufactring Inc", "Northfork Manufacturing, Inc.", 0.75, 0.98],
    ["an error in a short name", "Acne LLC", "Acme LLC", 0.75, 0.95],
    ["two errors in one word", "Wigdtes LLC", "Widgets LLC", 0.7, 0.95],
    ["two errors in a long word", "Cristalordd Ltd", "Crystalord Ltd", 0.75, 0.95],
    ["another legal form of the same kind", "Blue Ridge Timber Inc", "Blue Ridge Timber Corp", 0.95, 0.97],
    ["a legal form cut off", "Maasland N", "Maasland N.V.", 0.95, 0.98],
    ["another legal form cut off", "Maasland B.", "Maasland N.V.", 0.85, 0.95],
    ["a title that companies have in the Netherlands", "Koninklijke Maasland N.V.", "Maasland N.V.", 0.9, 1],
    ["words joined, the last of them abbreviated", "LORWINMARINEINDUSTRIES BV", "Lorwin Marine Ind BV", 0.9, 1],
    ["an abbreviation of a word in another spelling", "Lorwin Tech BV", "Lorwin Teknolodzhi BV", 0.75, 1],
    ["the title of two companies", "Koninklijke Lorwin N.V.", "Koninklijke Maasland N.V.", 0, 0.3],
    ["a legal form joined to the name", "BrightwellAG", "Brightwell AG", 0.95, 0.98],
    ["an error in a long legal form", "Kestrel Joynt Stock Company", "Kestrel Joint Stock Company", 0.97, 1],
    ["an error in the legal form", "Blue Ridge Timber Inf", "Blue Ridge Timber, Inc.", 0.9, 0.98],
    ["an error in a word of three letters", "American Hoe Physicians", "American Home Physicians", 0.6, 0.97],
    ["another name of three letters", "ABB Inc", "ABC Inc", 0, 0.6],
    ["a word omitted", "Blue Ridge LLC", "Blue Ridge Timber LLC", 0.3, 0.64],
    ["another legal form", "Blue Ridge Timber Inc", "Blue Ridge Timber LLC", 0.9, 0.95],
    ["a qualifier after the legal form", "Maasland NV", "MAASLAND N.V., a Dutch company", 0.75, 1],
    ["only common words in common", "Apex Construction Services Inc", "Zenith Construction Services Inc", 0, 0.5],
    ["only a common surname in common", "Fairmont Plumbing LLC", "Fairmont Roofing LLC", 0, 0.6],
    ["sister companies by place", "Bowne of Boston, Inc.", "Bowne of Atlanta, Inc.", 0, 0.6],
    ["sister companies by number", "Harbor Fund 1 LP", "Harbor Fund 2 LP", 0, 0.6],
    ["a direction", "Bank of the West", "Bank of the East", 0, 0.5],
    ["nothing in common", "Amberfield Foods", "Kestrel Marine", 0, 0.1],
    ["a sister's trade, even in common words", "Lorwin Trust & Banking", "Lorwin Lease & Finance", 0, 0.64],
    ["an additional general word", "Lorwin Bank Trust Co", "Lorwin Bank", 0.2, 0.64],
    ["general words in two languages", "Lorwin Technologie BV", "Lorwin Technology B.V.", 0.95, 1],
    ["one sound in two spellings", "Filipson Elektroniks", "Philipson Electronics", 0.65, 0.95],
    ["one sound but for an error in a short word", "Sigma Group", "Cigna Group", 0, 0.6],
    ["initials", "LBM Corp", "Lorwin Business Machines Corp", 0.65, 0.97],
    ["three words joined", "LORWINMARINESUPPLY LLC", "Lorwin Marine Supply LLC", 0.9, 1],
    ["a city after the legal form", "Lorwin N.V., Delft, NL", "LORWIN NV", 0.65, 1],
    ["one of two names", "Kestrel Holdings LLC d/b/a Lorwin Marine", "Lorwin Marine", 0.9, 1],
    ["a former name", "Lorwin Marine Inc., formerly Kestrel Boats Inc.", "Kestrel Boats, Inc.", 0.9, 1],
    ["somebody else's address", "Lorwin Marine c/o Harbor Trust", "Lorwin Marine", 0.9, 1],
    ["no name", "!!!", "Kestrel Marine", 0, 0],
  ])("%s: %s / %s", (_, a, b, least, most) => {
    for (const value of [score(a, b), score(b, a)]) {
      expect(value).toBeGreaterThanOrEqual(least);
      expect(value).toBeLessThanOrEqual(most);
    }
  });

  test("distinguishes equal names by their legal form", () => {
    const same = score("ABC Paving Inc", "ABC PAVING, INC.");
    expect(same).toBeGreaterThan(score("ABC Paving Inc", "ABC Paving"));
    expect(score("ABC Paving Inc", "ABC Paving")).toBeGreaterThan(score("ABC Paving Inc", "ABC Paving LLC"));
  });

  test("lists the differences, weightiest first", () => {
    const { features } = scoreName(normalizeName("Harbor Fund 1 LP"), normalizeName("Harbor Fund 2 LLC"), generalIdf);
    const weighed = weighDifferences(features);
    expect(weighed.map(({ difference }) => difference)).toEqual([
      "otherNumber",
      "otherWord",
      "contradiction",
      "otherForm",
    ]);
    expect(weighed.every(({ weight }) => weight > 0)).toBe(true);
    expect(weighDifferences(scoreName(normalizeName("Acme"), normalizeName("ACME"), generalIdf).features)).toEqual([]);
  });

  test("lists the words that are shared and those that are not", () => {
    const a = normalizeName("Nothfork Timber Inc");
    expect(scoreName(a, normalizeName("Northfork Lumber LLC"), generalIdf)).toMatchObject({
      legalForm: "contradicts",
      shared: ["nothfork~northfork"],
      onlyInQuery: ["timber"],
      onlyInCandidate: ["lumber"],
    });
  });

  test("takes bounded work for names of any length", () => {
    expect(score("word ".repeat(60), "other ".repeat(60))).toBeLessThan(0.6);
  });
});

describe("the weight of words", () => {
  test("depends on a large corpus, and on general knowledge in a small one", () => {
    const corpus = createIdf({ nameCount: 1_000_000, namesWith: (word) => (word === "acme" ? 50_000 : 3) });
    expect(generalIdf("services")).toBeLessThan(0.5);
    expect(generalIdf("acme")).toBe(1);
    expect(corpus("acme")).toBeLessThan(0.3);
    expect(corpus("kestrel")).toBeGreaterThan(0.9);
  });
});

test.each<[string, string, number]>([
  ["acme", "acme", 0],
  ["acme", "acne", 1],
  ["acme", "amce", 1],
  ["acme", "acm", 1],
  ["widgets", "wigdet", 2],
  ["abc", "xyz", 3],
])("the distance of %s and %s is %d", (a, b, distance) => expect(osaDistance(a, b, 3)).toBe(distance));

test.each<[string, string, number, number]>([
  ["bae", "bwi", 0, 0],
  ["2004", "2005", 0, 0],
  ["ar16", "ar17", 0, 0],
  ["constr", "construction", 0.75, 1],
  ["grp", "group", 0.75, 1],
  ["assoc", "association", 0.9, 1],
  ["bai", "baikal", 0, 0.5],
  ["j", "john", 0.4, 0.5],
])("the similarity of %s and %s", (a, b, least, most) => {
  expect(tokenSimilarity(a, b)).toBeGreaterThanOrEqual(least);
  expect(tokenSimilarity(a, b)).toBeLessThanOrEqual(most);
  expect(tokenSimilarity(b, a)).toBe(tokenSimilarity(a, b));
});
