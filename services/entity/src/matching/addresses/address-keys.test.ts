import { expect, test } from "@jest/globals";
import type { Address } from "./address.ts";
import { addressQueryKeys, storedAddressKeys } from "./address-keys.ts";

const address: Address = {
  type: "physical",
  line1: "1750 N PRESIDENTS ST STE 10",
  city: "RESTON",
  state: "VA",
  zip: "20190-5617",
  country: "USA",
};
const finds = (text: string, stored: Address = address) => {
  const { exact, near } = addressQueryKeys(text);
  const keys = storedAddressKeys(stored);
  if (keys.some((key) => exact.includes(key))) return "exact";
  return keys.some((key) => near.some((prefix) => key.startsWith(prefix))) ? "near" : "no";
};

test("an address is stored under its place, its number and its street", () => {
  expect(storedAddressKeys(address)).toEqual(["z:20190:1750:PRESIDENTS", "c:RESTON:VA:1750:PRESIDENTS"]);
});

test.each<[string, string, string, Partial<Address>?]>([
  ["with its ZIP", "1750 North Presidents Street 20190", "exact"],
  ["with its city and state", "1750 Presidents Street, Reston, Virginia", "exact"],
  ["with the state before the city", "1750 Presidents Street, VA Reston", "exact"],
  ["after a name", "Attn: Suite 10, Quasar Tower 3, 1750 N Presidents St, Reston VA", "exact"],
  ["with the street mistyped", "1750 Presidnets St, Reston VA", "near"],
  ["not with another number", "1752 Presidents St, Reston VA 20190", "no"],
  ["not in another place", "1750 Presidents St, Herndon VA 20171", "no"],
  ["a box", "PO Box 9, Reston VA", "exact", { line1: "P O BOX 9" }],
  ["a house whose number is a word", "One Quasar Way, Reston VA", "exact", { line1: "ONE QUASAR WAY" }],
  ["a place without a number", "Quasar Plaza, Reston VA", "exact", { line1: "QUASAR PLAZA" }],
  [
    "a place abroad",
    "5 Queen St, Toronto Ontario",
    "exact",
    { line1: "5 QUEEN ST", city: "TORONTO", state: "ONTARIO", zip: "M5V 2T6" },
  ],
  [
    "a place abroad with the region before the city",
    "5 George St, NSW Sydney",
    "exact",
    { line1: "5 GEORGE ST", city: "SYDNEY", state: "NSW", zip: "2000", country: "AUS" },
  ],
  [
    "a place abroad with the region before the city and its country",
    "5 George St, NSW North Sydney, Australia",
    "exact",
    { line1: "5 GEORGE ST", city: "NORTH SYDNEY", state: "NSW", zip: "2060", country: "AUS" },
  ],
  [
    "a military address",
    "CMR 420, APO AE 09063",
    "exact",
    { line1: "CMR 420", city: "APO", state: "AE", zip: "09063" },
  ],
  [
    "a military address with the region first",
    "PSC 3 Box 5000, AE APO",
    "exact",
    { line1: "PSC 3 BOX 5000", city: "APO", state: "AE", zip: "09123" },
  ],
])("an address is found %s", (...[, text, expected, stored]) =>
  expect(finds(text, { ...address, ...stored })).toBe(expected),
);

test("even a long text has few keys", () => {
  const { exact, near } = addressQueryKeys("12345 Oak St, Reston VA 20190, ".repeat(100));
  expect(exact.length).toBeLessThanOrEqual(300);
  expect(near.length).toBeLessThanOrEqual(60);
});

test("an empty text has no keys", () => {
  expect(addressQueryKeys("")).toEqual({ exact: [], near: [] });
  expect(storedAddressKeys({ ...address, line1: "" })).toEqual([]);
});
