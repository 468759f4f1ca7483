import { expect, test } from "@jest/globals";
import type { RegistryEntityFacts } from "../model/facts.ts";
import { factsHash } from "./facts-hash.ts";

const facts: RegistryEntityFacts = {
  ...{ uei: "ABCDEF123456", eft_indicator: "", legal_name: "BLUE RIDGE", other_names: ["RIDGE"] },
  sam: {
    ...{ sam_registered: true, listed_as: "active", expiration_date: "2027-12-31", excluded: false },
    ...{ cage: "1ABC2", entity_type: "Other" },
  },
  addresses: [{ type: "physical", line1: "12 OAK ST", city: "ASHEVILLE", state: "NC", zip: "28801", country: "USA" }],
};
const [address] = facts.addresses;

test("the same facts have the same hash, in any order of their fields", () => {
  const turned = Object.fromEntries(Object.entries(facts).reverse()) as unknown as RegistryEntityFacts;
  expect(factsHash(turned)).toBe(factsHash(structuredClone(facts)));
});

test.each<[string, Partial<RegistryEntityFacts>]>([
  ["the CAGE", { sam: { ...facts.sam, cage: undefined } }],
  ["the row that counts", { eft_indicator: "0002" }],
  ["the name", { legal_name: "BLUE  RIDGE" }],
  ["another name", { other_names: [] }],
  ["the type", { sam: { ...facts.sam, entity_type: undefined } }],
  ["an exclusion", { sam: { ...facts.sam, excluded: true } }],
  ["the expiration", { sam: { ...facts.sam, expiration_date: undefined } }],
  ["an address", { addresses: [{ ...address!, line2: "STE 4" }] }],
  ["the type of an address", { addresses: [{ ...address!, type: "mailing" }] }],
])("the hash changes with %s", (_, changed) => {
  expect(factsHash({ ...facts, ...changed })).not.toBe(factsHash(facts));
});
