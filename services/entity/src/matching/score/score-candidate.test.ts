import { describe, expect, test } from "@jest/globals";
import type { IdentifierType } from "@vvs/identifiers";
import type { Address } from "../addresses/address.ts";
import { readAddress } from "../addresses/address.ts";
import type { PartOutcome } from "../explanation.ts";
import { generalIdf } from "../names/idf.ts";
import { normalizeName } from "../names/normalize-name.ts";
import { scoreCandidate } from "./score-candidate.ts";

const address: Address = {
  type: "physical",
  line1: "12 OAK ST",
  city: "ASHEVILLE",
  state: "NC",
  zip: "28801-1234",
  country: "USA",
};
const entity = {
  names: [normalizeName("BLUE RIDGE TIMBER LLC"), normalizeName("RIDGE SAWMILL")],
  addresses: [address],
};
const here = "12 Oak Street, Asheville NC 28801";
const elsewhere = "9 Elm Ave, Reno NV 89501";
type Outcomes = Partial<Record<IdentifierType, PartOutcome>>;
const score = ({ name, address, identifiers = {} }: { name?: string; address?: string; identifiers?: Outcomes }) =>
  scoreCandidate(
    {
      address: address === undefined ? undefined : readAddress(address),
      name: name === undefined ? undefined : normalizeName(name),
    },
    { ...entity, identifiers: new Map(Object.entries(identifiers) as [IdentifierType, PartOutcome][]) },
    generalIdf,
  );

describe("the confidence in a candidate", () => {
  test.each<[string, Parameters<typeof score>[0], number, number]>([
    ["an identifier that agrees", { identifiers: { uei: "agrees" } }, 0.99, 1],
    ["and a mistyped name", { identifiers: { uei: "agrees" }, name: "Blue Rigde Timber" }, 0.99, 1],
    ["but the name of another company", { identifiers: { uei: "agrees" }, name: "Kestrel Marine" }, 0.8, 0.95],
    ["one that agrees and one that contradicts", { identifiers: { uei: "agrees", cage: "contradicts" } }, 0.5, 0.75],
    ["only one that contradicts", { identifiers: { cage: "contradicts" } }, 0, 0],
    [
      "the name, with an identifier that contradicts",
      { identifiers: { cage: "contradicts" }, name: "Blue Ridge Timber LLC" },
      0.6,
      0.8,
    ],
    [
      "the name, with an identifier that the entity lacks",
      { identifiers: { duns: "absent" }, name: "Blue Ridge Timber LLC" },
      0.95,
      1,
    ],
    ["the name", { name: "blue ridge timber, l.l.c." }, 0.95, 1],
    ["the name and the address", { name: "Blue Ridge Timber LLC", address: here }, 0.99, 1],
    ["the name at another address", { name: "Blue Ridge Timber LLC", address: elsewhere }, 0.75, 0.9],
    ["another of its names", { name: "Ridge Sawmill" }, 0.94, 0.98],
    ["two typing errors", { name: "Blue Rigde Timbr LLC" }, 0.75, 0.98],
    ["another company", { name: "Kestrel Marine LLC" }, 0, 0.2],
    ["another company at the same address", { name: "Kestrel Marine LLC", address: here }, 0, 0.5],
    ["only the address", { address: here }, 0.85, 0.95],
    ["only the state", { address: "Charlotte, NC" }, 0, 0.59],
    ["only another address", { address: elsewhere }, 0, 0.3],
  ])("%s", (_, query, least, most) => {
    const { confidence } = score(query);
    expect(confidence).toBeGreaterThanOrEqual(least);
    expect(confidence).toBeLessThanOrEqual(most);
  });

  test("is explained by criterion, and the weights add up to it", () => {
    const { confidence, explanation } = score({
      name: "Blue Ridge Lumber LLC",
      address: elsewhere,
      identifiers: { uei: "agrees", cage: "contradicts", duns: "absent" },
    });
    expect(explanation.map(({ criterion, outcome }) => [criterion, outcome])).toEqual([
      ["identifiers.uei", "agrees"],
      ["legal_name", "contradicts"],
      ["address", "contradicts"],
      ["identifiers.cage", "contradicts"],
      ["identifiers.duns", "absent"],
    ]);
    for (const { outcome, weight } of explanation) {
      expect(Math.sign(weight)).toBe({ agrees: 1, contradicts: -1, absent: 0 }[outcome as "agrees"]);
    }
    expect(explanation.reduce((sum, { weight }) => sum + weight, 0)).toBeCloseTo(confidence, 2);
    const [, byName, byAddress] = explanation;
    expect(byName!.detail).toContain("only asked for: lumber");
    expect(byName!.parts).toContainEqual({
      part: "words that differ",
      outcome: "contradicts",
      weight: expect.any(Number),
    });
    expect(byAddress!.parts!.map(({ part, outcome }) => [part, outcome])).toEqual([
      ["number", "contradicts"],
      ["street", "contradicts"],
      ["city", "contradicts"],
      ["state", "contradicts"],
      ["zip", "contradicts"],
    ]);
    expect(byAddress!.parts!.reduce((sum, { weight }) => sum + Math.abs(weight), 0)).toBeCloseTo(1, 2);
  });

  test.each<[string, Parameters<typeof score>[0]]>([
    ["an agreeing address beside a name that is hardly alike", { name: "Blue Ridge Lumber LLC", address: here }],
    ["another address without a name", { address: elsewhere }],
    ["another address beside an agreeing identifier", { address: elsewhere, identifiers: { uei: "agrees" } }],
    ["another CAGE code", { name: "Blue Ridge Widgets LLC", identifiers: { cage: "contradicts" } }],
  ])("is lowered by what contradicts, and by nothing else: %s", (_what, query) => {
    for (const { outcome, weight } of score(query).explanation) expect(weight < 0).toBe(outcome === "contradicts");
  });

  test("is 0 for an entity without name and address, and explained", () => {
    const bare = { identifiers: new Map(), names: [], addresses: [] };
    expect(scoreCandidate({ name: normalizeName("Acme"), address: readAddress(here) }, bare, generalIdf)).toEqual({
      confidence: 0,
      explanation: [
        { criterion: "legal_name", outcome: "absent", weight: 0, detail: "the entity has no name" },
        { criterion: "address", outcome: "absent", weight: 0, detail: "the entity has no address" },
      ],
    });
  });
});
