import { fieldCount } from "../../../services/entity/src/registry-load/files/fields.ts";
import { cageOf, ueiOf } from "./identifiers.ts";
import { type NameModel, textOf } from "./names.ts";
import { type Random, randomOf } from "./random.ts";
import { cities, streetKinds, streets } from "./words.ts";

const ROWS = 3;
const DAY_MS = 86_400_000;
/** Longest name that the layout holds. */
const MAX_NAME = 120;

/** Returns a row of the public extract V2 (GSA's master extract mapping v6.0), with its end-of-record mark. */
export function rowAt(options: { seed: number; index: number; names: NameModel; cutDate: Date }): string {
  const { seed, index, names, cutDate } = options;
  const random = randomOf(seed, ROWS, index);
  const name = textOf(names.nameAt(index)).slice(0, MAX_NAME);
  const isExpired = random.chance(0.2);
  const days = (from: number, below: number) =>
    compact(new Date(cutDate.getTime() + (from + random.below(below)) * DAY_MS));
  const fields = new Array<string>(fieldCount).fill("");
  const set = (position: number, ...values: readonly string[]) => {
    for (const [offset, value] of values.entries()) fields[position - 1 + offset] = value;
  };
  set(1, ueiOf(seed, index), "", "", random.chance(0.92) ? cageOf(seed, index) : "", "", isExpired ? "E" : "A");
  set(7, random.chance(0.7) ? "Z2" : "Z1", days(-6_000, 5_000), isExpired ? days(-180, 179) : days(1, 364));
  set(10, days(-360, 359), days(-360, 359), name, otherName(names, random, seed), "", "");
  const physical = address(random);
  set(16, physical.line1, physical.line2, physical.city, physical.state, physical.zip, physical.plus4, "USA");
  set(23, String(random.below(40)).padStart(2, "0"), " ", days(-12_000, 11_000), "1231", "");
  set(28, structureOf(name), physical.state, "USA", "0002", "2X~MF", "541330", "0001", "541330 ", "0000", "", "Y");
  const mailing = random.chance(0.7) ? physical : address(random);
  set(40, mailing.line1, mailing.line2, mailing.city, mailing.zip, mailing.plus4, "USA", mailing.state);
  set(113, "0000", "", "N", random.chance(0.001) ? "D" : " ", "0000", "", random.chance(0.01) ? "NPDY" : "");
  set(120, "0000", "", "E&Y", ...new Array<string>(19).fill(" "), "!end");
  return fields.join("|");
}

/** Returns the name that some registrants do business as; "" for most. */
function otherName(names: NameModel, random: Random, seed: number): string {
  if (!random.chance(0.12)) return "";
  // Indexes far after the last row: names that no row has.
  return names.nameAt(1_000_000_000 + random.below(500_000_000) + (seed % 1_000)).core.slice(0, MAX_NAME);
}

function address(random: Random) {
  const [city = "", state = "", zip3 = ""] = random.zipf(cities, 20).split(":");
  const street = `${1 + random.below(9_900)} ${random.chance(0.2) ? `${random.pick(["N", "S", "E", "W"])} ` : ""}`;
  return {
    line1: random.chance(0.1)
      ? `PO BOX ${1 + random.below(9_000)}`
      : `${street}${random.zipf(streets)} ${random.zipf(streetKinds)}`,
    line2: random.chance(0.15) ? `STE ${1 + random.below(900)}` : "",
    city,
    state,
    zip: `${zip3}${String(random.below(100)).padStart(2, "0")}`,
    plus4: random.chance(0.8) ? String(1 + random.below(9_998)).padStart(4, "0") : "",
  };
}

function structureOf(name: string): string {
  if (/^[A-Z' ]+, [A-Z]+( [A-Z])?$/.test(name)) return "2J";
  if (/^(CITY|TOWN|COUNTY) OF /.test(name)) return "2A";
  return / (INC|CORP|CORPORATION|INCORPORATED)\.?$/.test(name) ? "2L" : "ZZ";
}

/** Formats a date as YYYYMMDD. */
export function compact(date: Date): string {
  return date.toISOString().slice(0, 10).replaceAll("-", "");
}
