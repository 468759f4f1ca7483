import { expect, test } from "@jest/globals";
import { candidateConfidence } from "../score/score-candidate.ts";
import type { Address } from "./address.ts";
import { readAddress } from "./address.ts";
import { addressQueryKeys, storedAddressKeys } from "./address-keys.ts";
import { scoreAddress } from "./score-address.ts";

/** Each list has spellings of one part, the way addresses are typed or stored. */
const numbers = [
  ["1750"],
  ["123A", "123-A", "123 A", "123"],
  ["100-104", "100 - 104", "102", "100", "100 to 104"],
  ["1333-45", "1337"],
  ["37-28", "3728"],
  ["9 1/2", "9½", "9"],
  ["W148 N9748"],
  ["1", "One"],
];
const streets = [
  ["PRESIDENTS ST", "Presidents Street", "Presidnets St", "Presidents Ave"],
  ["S IH 35", "S. IH-35", "S Interstate 35", "South I-35", "S. Interstate Highway 35"],
  ["STATE HWY 71", "TX-71", "Hwy 71", "State Highway 71", "TX 71"],
  ["FM 1960", "FM-1960 Rd", "Farm to Market Road 1960"],
  ["US HIGHWAY 1", "US-1", "U.S. Hwy 1", "US Route 1"],
  ["COUNTY ROAD 12", "CR-12", "CR 12", "Co Rd 12"],
  ["STATE ROUTE 9", "SR-9", "Rte 9", "ST RT 9"],
  ["N 1ST AVE", "North First Avenue", "1st Ave"],
  ["LA SALLE ST", "LaSalle Street"],
  ["DR MARTIN LUTHER KING JR DR", "M L King Dr", "MLK Drive"],
  ["OAK CREEK RD", "Oak Creek Road", "Oak Crek Rd"],
  ["SAINT CLAIR AVE", "St Clair Ave"],
  ["BROADWAY", "Broadway Ave"],
];
const units = [[""], ["STE 10", "Suite 10", "#10"], ["UNIT A", "#A", "Apt A"], ["5TH FLOOR", "Floor 5"]];
const places = [
  {
    city: "AUSTIN",
    state: "TX",
    zip: "78744",
    typed: ["Austin, TX 78744", "Austin TX", "78744", "Austin", "Texas 78744"],
  },
  {
    city: "SAINT PAUL",
    state: "MN",
    zip: "55101-1234",
    typed: ["St. Paul MN 55101", "Saint Paul, Minnesota", "St Paul"],
  },
  { city: "LAS VEGAS", state: "NV", zip: "89101", typed: ["Las Vegas NV 89101", "LasVegas, NV", "Las Vgeas NV 89101"] },
  { city: "NEW YORK", state: "NY", zip: "10001", typed: ["New York, New York 10001", "New York NY", "NYC 10001"] },
  { city: "CAMBRIDGE", state: "MA", zip: "01241", typed: ["Cambridge, MA 1241", "MA Cambridge"] },
];
const names = ["", "", "C/O JOHN LEE", "ATTN: PAYROLL", "QUASAR TOWER 3"];

/** A generator of whole numbers below a limit, always the same. */
function createChoice(): (below: number) => number {
  let state = 1;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
}

test("an address that the comparison accepts is found by its keys", () => {
  const below = createChoice();
  const pick = <T>(list: readonly T[]): T => list[below(list.length)]!;
  /** The same part in most cases, so that many pairs are accepted. */
  const pickNear = <T>(own: T, all: readonly T[]): T => (below(8) > 0 ? own : pick(all));
  const missed: unknown[] = [];
  let accepted = 0;
  for (let made = 0; made < 20_000; made++) {
    const [number, street, unit, place, name] = [pick(numbers), pick(streets), pick(units), pick(places), pick(names)];
    const line = `${pick(number)} ${pick(street)}`.toUpperCase();
    const [own, unitLine] = [pick(unit).toUpperCase(), { line1: line, line2: pick(unit).toUpperCase() }];
    const lines = pick([unitLine, { line1: `${line} ${own}` }, { line1: name || own || line, line2: line }]);
    const { city, state, zip } = place;
    const address: Address = { type: "physical", ...lines, city, state, zip, country: "USA" };
    const typedLine = `${pick(pickNear(number, numbers))} ${pick(pickNear(street, streets))}`;
    const parts = [pick(names), typedLine, pick(pickNear(unit, units)), pick(pickNear(place, places).typed)];
    const text = parts.filter((part) => part !== "").join(pick([", ", " "]));
    const score = scoreAddress(readAddress(text), [address])!;
    if (score.alone < candidateConfidence) continue;
    accepted++;
    const { exact, near } = addressQueryKeys(text);
    const keys = storedAddressKeys(address);
    const isFound = keys.some((key) => exact.includes(key));
    // Exact look-ups use only the exact keys.
    const isExact = score.detail.startsWith("it holds");
    const isNear = keys.some((key) => near.some((prefix) => key.startsWith(prefix)));
    if (!isFound && (isExact || !isNear)) missed.push({ text, lines, city, keys, exact: exact.slice(0, 3) });
  }
  expect(missed.slice(0, 5)).toEqual([]);
  expect(accepted).toBeGreaterThan(5_000);
});
