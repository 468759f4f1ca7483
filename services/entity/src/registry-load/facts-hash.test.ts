import { expect, test } from "@jest/globals";
import type { RegistryEntityFacts } from "../model/facts.ts";
import { factsHash } from "./facts-hash.ts";

const facts: RegistryEntityFacts = {
  ...{ uei: "ABCDEF123456", eftIndicator: "", cage: "1ABC2", legalName: "BLUE RIDGE", otherNames: ["RIDGE"] },
  entityType: "Other",
  status: { samRegistered: true, listedAs: "active", expirationDate: "2027-12-31", excluded: false },
  addresses: [{ type: "physical", line1: "12 OAK ST", city: "ASHEVILLE", state: "NC", zip: "28801", country: "USA" }],
  publicDisplay: true,
};
const [address] = facts.addresses;

test("the same facts have the same hash, whatever order their parts were set in", () => {
  const turned = Object.fromEntries(Object.entries(facts).reverse()) as unknown as RegistryEntityFacts;
  expect(factsHash(turned)).toBe(factsHash(structuredClone(facts)));
});

test.each<[string, Partial<RegistryEntityFacts>]>([
  ["the CAGE", { cage: undefined }],
  ["the row that speaks", { eftIndicator: "0002" }],
  ["the name", { legalName: "BLUE  RIDGE" }],
  ["another name", { otherNames: [] }],
  ["the type", { entityType: undefined }],
  ["an exclusion", { status: { ...facts.status, excluded: true } }],
  ["the expiration", { status: { ...facts.status, expirationDate: undefined } }],
  ["an address", { addresses: [{ ...address!, line2: "STE 4" }] }],
  ["the type of an address", { addresses: [{ ...address!, type: "mailing" }] }],
])("another hash tells that %s changed", (_, changed) => {
  expect(factsHash({ ...facts, ...changed })).not.toBe(factsHash(facts));
});
