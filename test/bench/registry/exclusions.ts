import { cageOf, ueiOf } from "./identifiers.ts";
import { randomOf } from "./random.ts";

/** Column titles of layout 1.5 (April 2026). */
const TITLES = [
  ...["Classification", "Name", "Prefix", "First", "Middle", "Last", "Suffix"],
  ...["Address 1", "Address 2", "Address 3", "Address 4", "City", "State / Province", "Country", "Zip Code"],
  ...["Open Data Flag", "Blank (Deprecated)", "Unique Entity ID", "Exclusion Program", "Excluding Agency", "CT Code"],
  ...["Exclusion Type", "Additional Comments", "Active Date", "Termination Date", "Record Status", "Cross-Reference"],
  ...["SAM Number", "CAGE", "NPI", "Creation_Date"],
];
const STREAM = 889;
const ROWS_PER_CHUNK = 500;
const AGENCIES = ["HHS", "OPM", "OFAC", "DOJ", "EPA", "GSA", "DLA", "SBA"];
const COMMENTS = [
  "",
  "",
  "",
  "Excluded by HHS from participation in all Federal health care programs.",
  "This Facility Only.",
];
const COUNTRIES = ["USA", "USA", "MEX", "IRN", "RUS"];
const WORDS = ["NORTH", "HARBOR", "STEEL", "MEDICAL", "TRADING", "GULF", "PAVING", "SUPPLY", "MARINE", "CLINIC"];

/**
 * Yields an exclusions file in layout 1.5, in chunks: people, designated entities, firms and vessels in the shares of a file
 * of 2026, with blank and repeated SAM Numbers, text instead of identifiers, and some equal rows. The same seed and size
 * make the same file. Constant memory.
 */
export async function* exclusionsOf({ seed, size }: { seed: number; size: number }): AsyncGenerator<string> {
  yield lineOf(TITLES);
  for (let start = 0; start < size; start += ROWS_PER_CHUNK) {
    let chunk = "";
    for (let index = start; index < Math.min(size, start + ROWS_PER_CHUNK); index++) chunk += rowOf(seed, index);
    yield chunk;
  }
}

function rowOf(seed: number, index: number): string {
  // One row of a hundred equals the one before.
  const item = index % 100 === 99 ? index - 1 : index;
  const random = randomOf(seed, STREAM, item);
  const kind = random.next();
  const classification =
    kind < 0.79 ? "Individual" : kind < 0.94 ? "Special Entity Designation" : kind < 0.992 ? "Firm" : "Vessel";
  const isPerson = classification === "Individual";
  const hasUei = isPerson ? random.chance(0.1) : classification !== "Vessel" && random.chance(0.96);
  const cage = random.chance(0.03) ? random.pick(["N/A", "0", "NONE"]) : random.chance(0.02) ? cageOf(seed, item) : "";
  const number = random.chance(0.3) ? "" : samNumber(seed, random.chance(0.1) ? item - (item % 10) : item);
  const name = `${random.pick(WORDS)} ${random.pick(WORDS)} ${item}`;
  const day = `${1 + random.below(12)}/${1 + random.below(28)}/${2000 + random.below(26)}`;
  const ends = random.chance(0.2) ? `01/31/${2027 + random.below(10)}` : "Indefinite";
  const who = isPerson ? ["", "", "PAT", "Q", name, ""] : [name, "", "", "", "", ""];
  const place = [`${1 + random.below(999)} MAIN ST`, "", "", "", "DAYTON", "OH", random.pick(COUNTRIES), "45402"];
  const what = ["Reciprocal", random.zipf(AGENCIES), random.pick(["", "Z1", "H"]), "Prohibition/Restriction"];
  const text = [random.pick(COMMENTS), day, ends, "Active", isPerson ? "" : `(also ${name} GROUP)`];
  const ids = [number, cage, "", "2025-03-05"];
  return lineOf([classification, ...who, ...place, "", "", hasUei ? ueiOf(seed, item) : "", ...what, ...text, ...ids]);
}

/** Returns a number of 36 characters, as layout 1.5 has them. */
function samNumber(seed: number, item: number): string {
  const digits = `${seed.toString(16)}${item.toString(16).padStart(8, "0")}`.padStart(32, "d76d4330f144");
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    digits.slice(12, 16),
    digits.slice(16, 20),
    digits.slice(20, 32),
  ].join("-");
}

function lineOf(fields: readonly string[]): string {
  return `"${fields.join('","')}"\r\n`;
}
