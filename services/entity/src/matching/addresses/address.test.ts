import { describe, expect, test } from "@jest/globals";
import type { Address } from "./address.ts";
import { addressAgrees, addressWords, readAddress } from "./address.ts";

const reston: Address = {
  type: "physical",
  line1: "1750 PRESIDENTS ST",
  line2: "STE 10",
  city: "RESTON",
  state: "VA",
  zip: "20190-5617",
  country: "USA",
};
const newYork: Address = { ...reston, line1: "1 W 5TH AVE", city: "NEW YORK", state: "NY", zip: "10001" };

test.each([
  ["1750 Presidents Street, Suite 10", "1750 PRESIDENTS ST STE 10"],
  ["100 North-West Highway", "100 N W HWY"],
  ["100 Northwest Hwy.", "100 NW HWY"],
  ["5 K St. N.W., Washington, D.C.", "5 K ST NW WASHINGTON DC"],
  ["5 K St N W", "5 K ST NW"],
  ["P.O. Box 9", "PO BOX 9"],
  ["Post Office Box 9", "PO BOX 9"],
  ["1 First Avenue", "1 1ST AVE"],
  ["Fort Worth", "FT WORTH"],
  ["37-28 Seventy Fifth Street", "3728 75TH ST"],
  ["9½ Elm, Ste. #4", "9 1/2 ELM STE 4"],
  ["5717 S. IH-35, Ste. 101", "5717 S HWY 35 STE 101"],
  ["5717 S INTERSTATE 35", "5717 S HWY 35"],
  ["12400 TX-71", "12400 HWY 71"],
  ["12400 W TX 71", "12400 W HWY 71"],
  ["12400 State Hwy 71", "12400 HWY 71"],
  ["100 FM-1960 Rd", "100 HWY 1960"],
  ["100 Farm to Market Road 1960", "100 HWY 1960"],
  ["500 US-1", "500 HWY 1"],
  ["77 CR-12", "77 CR 12"],
  ["12 M-59", "12 HWY 59"],
  ["12 Elm Ct 9", "12 ELM CT 9"],
  ["100 to 104 Main St", "100104 MAIN ST"],
  ["1 Constructor Way", "1 CONSTRUCTOR WAY"],
  ["Saint Paul", "ST PAUL"],
])("%s is %s", (text, words) => expect(addressWords(text).join(" ")).toBe(words));

describe("a one-line address agrees", () => {
  test.each<[string, string, Address, boolean]>([
    ["with line, city and state", "1750 Presidents Street, Reston, Virginia", reston, true],
    ["with line and ZIP5", "1750 presidents st 20190", reston, true],
    ["with line and ZIP+4", "1750 Presidents St., Reston 20190-5617", reston, true],
    ["with ZIP+4 without hyphen", "1750 Presidents St 201905617", reston, true],
    ["with the state before the city", "1750 Presidents St, VA Reston", reston, true],
    ["with a unit between", "1750 Presidents St, Suite 10, Reston VA", reston, true],
    ["with a city that has its state's name", "1 West Fifth Avenue, New York, New York", newYork, true],
    ["not with only the line", "1750 Presidents Street", reston, false],
    ["not with only a city that has its state's name", "1 West Fifth Avenue, New York", newYork, false],
    ["not without the state", "1750 Presidents Street, Reston", reston, false],
    ["not with another number", "1751 Presidents Street, Reston VA 20190", reston, false],
    ["not with another ZIP and state", "1750 Presidents Street, Reston MD 20191", reston, false],
    ["not with the city only in the street's name", "1 Reston Ave, VA", { ...reston, line1: "1 RESTON AVE" }, false],
    ["not with an address without a line", "Reston VA 20190", { ...reston, line1: "" }, false],
    [
      "with a street that begins like a state's name",
      "100 West Virginia Avenue, Reston VA",
      { ...reston, line1: "100 W VIRGINIA AVE" },
      true,
    ],
    [
      "with a state that the source writes out",
      "1750 Presidents St, Reston, VA",
      { ...reston, state: "Virginia" },
      true,
    ],
    [
      "with initials of the state",
      "1750 Presidents St, Asheville, N.C.",
      { ...reston, city: "ASHEVILLE", state: "NC" },
      true,
    ],
    [
      "with the road under another name",
      "5717 S. IH-35, Ste. 101 Reston, VA 20190",
      { ...reston, line1: "5717 S INTERSTATE 35" },
      true,
    ],
    [
      "with the street in the second line",
      "9 Elm St, Reston VA",
      { ...reston, line1: "C/O LEE", line2: "9 ELM ST" },
      true,
    ],
    ["with the street behind a suite", "9 Elm St, Reston VA", { ...reston, line1: "STE 2", line2: "9 ELM ST" }, true],
    ["not with nothing", "", reston, false],
  ])("%s", (_, text, address, expected) => expect(addressAgrees(readAddress(text), address)).toBe(expected));
});
