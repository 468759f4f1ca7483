import { wordList } from "./word-list.ts";

/**
 * The states, the District of Columbia and the territories: USPS code, name, and the abbreviations that were in use
 * before the codes, which people still write.
 */
const states = `
  AL, ALABAMA
  AK, ALASKA
  AS, AMERICAN SAMOA
  AZ, ARIZONA, ARIZ
  AR, ARKANSAS
  CA, CALIFORNIA, CALIF
  CO, COLORADO, COLO
  CT, CONNECTICUT, CONN
  DE, DELAWARE
  DC, DISTRICT OF COLUMBIA
  FL, FLORIDA, FLA
  GA, GEORGIA
  GU, GUAM
  HI, HAWAII
  ID, IDAHO
  IL, ILLINOIS, ILL
  IN, INDIANA
  IA, IOWA
  KS, KANSAS, KANS
  KY, KENTUCKY
  LA, LOUISIANA
  ME, MAINE
  MD, MARYLAND
  MA, MASSACHUSETTS, MASS
  MI, MICHIGAN, MICH
  MN, MINNESOTA, MINN
  MS, MISSISSIPPI, MISS
  MO, MISSOURI
  MT, MONTANA
  NE, NEBRASKA, NEBR
  NV, NEVADA, NEV
  NH, NEW HAMPSHIRE
  NJ, NEW JERSEY
  NM, NEW MEXICO
  NY, NEW YORK
  NC, NORTH CAROLINA
  ND, NORTH DAKOTA
  MP, NORTHERN MARIANA ISLANDS
  OH, OHIO
  OK, OKLAHOMA, OKLA
  OR, OREGON, ORE
  PA, PENNSYLVANIA, PENN, PENNA
  PR, PUERTO RICO
  RI, RHODE ISLAND
  SC, SOUTH CAROLINA
  SD, SOUTH DAKOTA
  TN, TENNESSEE, TENN
  TX, TEXAS, TEX
  UT, UTAH
  VT, VERMONT
  VI, VIRGIN ISLANDS
  VA, VIRGINIA
  WA, WASHINGTON, WASH
  WV, WEST VIRGINIA
  WI, WISCONSIN, WISC, WIS
  WY, WYOMING
`
  .trim()
  .split("\n")
  .map((line) => line.trim().split(", "));

const codesByText = new Map(states.flatMap((texts) => texts.map((text) => [text, texts[0]!])));
const namesByCode = new Map(states.map(([code, name]) => [code, name!]));
const longestStateName = 4;

/** The state that the words before `end` name, the longest name first, and how many words it has. */
export function stateBefore(words: readonly string[], end: number): { code: string; length: number } | undefined {
  for (let length = Math.min(longestStateName, end); length > 0; length--) {
    const run = words.slice(end - length, end);
    // Also "N C", where initials were written apart.
    const code = codesByText.get(run.join(run.every((word) => word.length === 1) ? "" : " "));
    if (code) return { code, length };
  }
  return undefined;
}

/** The code of a state given as code or name; undefined for anything else. */
export function stateCodeOf(text: string): string | undefined {
  const words = text.toUpperCase().replaceAll(".", "").trim().split(/\s+/);
  const state = stateBefore(words, words.length);
  return state?.length === words.length ? state.code : undefined;
}

/** The codes of all states. */
export const stateCodes: readonly string[] = states.map(([code]) => code!);

/** The name of a state, upper case; "" for an unknown code. */
export function stateNameOf(code: string): string {
  return namesByCode.get(code) ?? "";
}

/** The ZIP5 of a word that is a ZIP code or a ZIP+4, with or without its hyphen. */
export function zip5Of(word: string): string | undefined {
  return /^(\d{5})(?:-?\d{4})?$/.exec(word.trim())?.[1];
}

/** Words that distinguish sister companies: two names that differ in them are two companies. */
const placeWords = new Set([
  ...states.flatMap(([, name]) => name!.toLowerCase().split(" ")),
  ...wordList(`
    north south east west northern southern eastern western central northeast northwest southeast southwest midwest
    upper lower angeles asia atlanta austin baltimore boston charlotte chicago cincinnati cleveland columbus dallas
    denver detroit diego francisco houston indianapolis jacksonville memphis miami milwaukee minneapolis nashville
    orlando philadelphia phoenix pittsburgh portland sacramento seattle tampa africa america argentina australia
    austria belgium brasil brazil britain canada chile china colombia denmark egypt estonia ethiopia europa europe
    finland france germany greece hong india indonesia iran iraq ireland israel italy japan korea kong london malaysia
    mexico nederland netherlands nigeria norge norway pakistan paris peru philippines poland portugal russia schweiz
    singapore spain sweden switzerland taiwan thailand tokyo turkey uk ukraine vietnam
  `),
]);

/** True for a word that names a place or a direction; a lower-case word of a normalized name. */
export function isPlaceWord(word: string): boolean {
  return placeWords.has(word);
}
