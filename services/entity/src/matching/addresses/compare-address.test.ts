import { describe, expect, test } from "@jest/globals";
import type { Address } from "./address.ts";
import { readAddress } from "./address.ts";
import { compareAddress } from "./compare-address.ts";

const reston: Address = {
  type: "physical",
  line1: "1750 PRESIDENTS ST",
  line2: "STE 10",
  city: "RESTON",
  state: "VA",
  zip: "20190-5617",
  country: "USA",
};
const compare = (text: string, address: Partial<Address> = {}) =>
  compareAddress(readAddress(text), { ...reston, ...address });
const signs = { agrees: "+", contradicts: "-", absent: "" } as const;
const shown = (text: string, address: Partial<Address> = {}) =>
  compare(text, address)
    .parts.map(({ part, outcome }) => `${part}${signs[outcome]}`)
    .join(" ");

describe("the parts that agree and contradict", () => {
  test.each<[string, string, Partial<Address>?]>([
    ["1750 Presidents St, Reston VA 20190", "number+ street+ city+ state+ zip+"],
    ["1750 Presidents St Suite 10 Reston VA 20190-9999", "number+ street+ unit+ city+ state+ zip+"],
    ["1750 Presidents St, Suite 12, Reston VA 20190", "number+ street+ unit- city+ state+ zip+"],
    ["1752 Presidents St, Reston VA 20190", "number- street+ city+ state+ zip+"],
    ["1750 Presidnets Street Reston VA", "number+ street+ city+ state+"],
    ["1750 Presidents Ave, Reston VA", "number+ street+ city+ state+"],
    ["9 Elm Ct, Reno NV 89501", "number- street- city- state- zip-"],
    ["Reston, Virginia", "city+ state+"],
    ["Herndon VA 20171", "city- state+ zip-"],
    ["1750 Presidents Street", "number+ street+"],
    ["12 First Ave, Ames IA", "number+ street+ city+ state+", { line1: "12 1ST AVE", city: "AMES", state: "IA" }],
    ["12 First Ave, Ames IA", "number+ street- city+ state+", { line1: "12 2ND AVE", city: "AMES", state: "IA" }],
    [
      "12 Saint Clair Ave, St Paul MN",
      "number+ street+ city+ state+",
      { line1: "12 ST CLAIR AVE", city: "SAINT PAUL", state: "MN" },
    ],
    [
      "100 LaSalle St, Chicago IL",
      "number+ street+ city+ state+",
      { line1: "100 LA SALLE ST", city: "CHICAGO", state: "IL" },
    ],
    ["100-104 Oak St, Reston VA", "number+ street+ city+ state+", { line1: "102 OAK ST" }],
    ["1333-45 W Argyle, Reston VA", "number+ street+ city+ state+", { line1: "1337 W ARGYLE ST" }],
    ["100-104 Oak St, Reston VA", "number- street+ city+ state+", { line1: "103 OAK ST" }],
    ["100 - 104 Oak St, Reston VA", "number+ street+ city+ state+", { line1: "104 OAK ST" }],
    ["100-999 Oak St, Reston VA", "number- street+ city+ state+", { line1: "500 OAK ST" }],
    ["123A Oak St, Reston VA", "number+ street+ unit+ city+ state+", { line1: "123 OAK ST", line2: "UNIT A" }],
    ["123 Oak St #A, Reston VA", "number+ street+ unit+ city+ state+", { line1: "123-A OAK ST", line2: "" }],
    ["123A Oak St, Reston VA", "number+ street+ unit- city+ state+", { line1: "123B OAK ST", line2: "" }],
    ["5717 S. IH-35, Reston VA", "number+ street+ city+ state+", { line1: "5717 S INTERSTATE 35" }],
    ["12400 TX-71, Reston VA", "number+ street+ city+ state+", { line1: "12400 STATE HWY 71" }],
    ["9 Elm St, Reston VA", "number+ street+ city+ state+", { line1: "C/O LEE", line2: "9 ELM ST" }],
    ["12 State Steet, Reston VA", "number+ street+ city+ state+", { line1: "12 STATE ST" }],
    ["12 King Dr, Reston VA", "number+ street+ city+ state+", { line1: "12 DR MARTIN LUTHER KING JR DR" }],
    ["12 Oak Creek Rd, Reston VA", "number+ street- city+ state+", { line1: "12 OAK ST" }],
    ["P.O. Box 88, Reston VA", "box+ city+ state+", { line1: "PO BOX 88" }],
    ["P.O. Box 89, Reston VA", "box- city+ state+", { line1: "PO BOX 88" }],
    ["27 Washington Old Town VA", "number+ street+ city+ state+", { line1: "27 WASHINGTON", city: "OLD TOWN" }],
  ])("%s: %s", (...[text, expected, address]) => expect(shown(text, address)).toBe(expected));
});

describe("the evidence of all parts", () => {
  const evidence = (text: string, address: Partial<Address> = {}) => compare(text, address).evidence;
  test("rises with each part that agrees", () => {
    const rising = ["VA", "Reston VA", "Reston VA 20190", "1750 Presidents St, Reston VA 20190"].map((text) =>
      evidence(`X, ${text}`),
    );
    expect(rising).toEqual([...rising].sort((a, b) => a - b));
  });

  test("is negative for another house on the same street", () => {
    expect(evidence("1752 Presidents St, Reston VA 20190")).toBeLessThan(0);
  });

  test("changes little with another unit or another name for the city", () => {
    const whole = evidence("1750 Presidents St, Reston VA 20190");
    expect(evidence("1750 Presidents St, Suite 12, Reston VA 20190")).toBeGreaterThan(whole - 1);
    expect(evidence("1750 Presidents St, Herndon VA 20190")).toBeGreaterThan(whole - 1.5);
  });

  test("is lower for another type or direction of the street, and lowest for another name", () => {
    const [same, beside, other] = ["1750 Presidents St", "1750 Presidents Ct", "1750 Kestrel St"].map((line) =>
      evidence(`${line}, Reston VA`),
    );
    expect(same).toBeGreaterThan(beside!);
    expect(beside).toBeGreaterThan(other!);
    const main = { line1: "100 N MAIN ST" };
    expect(evidence("100 S Main St, Reston VA", main)).toBeLessThan(evidence("100 Main St, Reston VA", main));
  });

  test("ignores a box if the entity has a house", () => {
    expect(shown("P.O. Box 88, Reston VA 20190")).toBe("city+ state+ zip+");
  });
});
