import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@vvs/testing";

// Creates registry files for the tests of this folder.

/** Returns the 142 fields of an extract V2 row, with the given fields (by 1-based position) set. */
export function extractRowText(set: Record<number, string>): string {
  const fields: string[] = Array.from({ length: 142 }, () => "");
  const defaults: Record<number, string> = {
    1: "ABCDEF123456",
    4: "1ABC2",
    6: "A",
    7: "Z2",
    8: "20200101",
    9: "20271231",
    10: "20260801",
    11: "20260802",
    12: "BLUE RIDGE TIMBER LLC",
    16: "12 OAK ST",
    18: "ASHEVILLE",
    19: "NC",
    20: "28801",
    22: "USA",
    24: " ",
    28: "2L",
    116: " ",
    142: "!end",
  };
  for (const [position, text] of Object.entries({ ...defaults, ...set })) fields[Number(position) - 1] = text;
  return fields.join("|");
}

/** Returns a complete extract with the given rows; `count` overrides the number of rows in its header and trailer. */
export function extractText(rows: string[], options: { count?: number; eol?: string } = {}): string {
  const { count = rows.length, eol = "\n" } = options;
  const line = (marker: string) => `${marker} PUBLIC V2 00000000 20260906 ${String(count).padStart(7, "0")} 0008331`;
  return [line("BOF"), ...rows, line("EOF"), ""].join(eol);
}

/** Fields of an exclusion; the others are those of a firm, without an end. */
export interface ExclusionOf {
  readonly uei?: string;
  readonly cage?: string;
  readonly from?: string;
  readonly until?: string;
  readonly agency?: string;
  readonly comment?: string;
  readonly samNumber?: string;
  readonly name?: string;
  /** First, middle and last name and suffix of a person, who has no other name. */
  readonly person?: readonly [first: string, middle: string, last: string, suffix: string];
}

const EXCLUSION_TITLES =
  "Classification,Name,First,Middle,Last,Suffix,Unique Entity ID,Exclusion Program,Excluding Agency,CT Code,Exclusion Type,Additional Comments," +
  "Active Date,Termination Date,SAM Number,CAGE,Creation_Date";

/** Returns an exclusions file; the SAM number of each row contains its UEI or CAGE if none is given. */
export function exclusionsText(rows: readonly ExclusionOf[]): string {
  const lines = rows.map(({ uei = "", cage = "", from = "2020-01-01", until = "Indefinite", ...more }) => {
    const { agency = "GSA", comment = "", samNumber = `S4MR${uei || cage}`, name = "X", person } = more;
    const who = person ? ["Individual", "", ...person] : ["Firm", name, "", "", "", ""];
    const what = [uei, "Reciprocal", agency, "R", "Ineligible", comment, from, until, samNumber, cage, "2026-01-01"];
    return [...who, ...what].map((field) => `"${field}"`).join(",");
  });
  return [EXCLUSION_TITLES, ...lines].join("\n");
}

/** Returns a day (YYYY-MM-DD) as the names of exclusions files have it: YYDDD, the year and the day in it. */
export function ordinalDay(day: string): string {
  const dayOfYear = (Date.parse(day) - Date.parse(`${day.slice(0, 4)}-01-01`)) / 86_400_000 + 1;
  return `${day.slice(2, 4)}${String(dayOfYear).padStart(3, "0")}`;
}

/** Writes a file in a folder of its own, which exists until the tests of the file are over. Returns its path. */
export async function writeText(name: string, text: string | Uint8Array): Promise<string> {
  const path = join(temporaryFolder(), name);
  await writeFile(path, text);
  return path;
}
