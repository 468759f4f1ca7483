import { credentials } from "@vvs/identifiers/credentials";
import { irsName } from "@vvs/identifiers/irs-name";

/**
 * A question in the form that TaxBandits takes. It requires the type of the TIN, and has none for "unknown". Persons' TINs
 * are asked with the parts of their names.
 */
export type AskedName =
  | { readonly TINType: "EIN"; readonly BusinessNm: string }
  | {
      readonly TINType: "SSN" | "ITIN";
      readonly FirstNm: string;
      readonly MiddleNm?: string;
      readonly LastNm: string;
    };

/** Prefixes that the IRS never assigned to an EIN. */
const NO_EIN: ReadonlySet<string> = new Set("00 07 08 09 17 18 19 28 29 49 69 70 78 79 89 96 97".split(" "));
/** The fourth and fifth digits of ITINs. */
const ITIN_GROUPS = [
  [50, 65],
  [70, 88],
  [90, 92],
  [94, 99],
] as const;
/** Structures whose TIN may or may not be a person's. */
const SILENT_STRUCTURES: ReadonlySet<string> = new Set(["", "other"]);
const PERSONS = /\b(?:sole proprietor|individual)/i;
/** Words that no person's name has. */
const BUSINESS = new Set(
  (
    "the and of for inc incorporated corp corporation co company companies llc lc llp lp ltd limited pllc pc pa plc trust " +
    "estate fund foundation association assn group holdings partners partnership enterprises industries services service " +
    "systems solutions supply consulting construction contracting contractors management international usa dba bank church " +
    "university college school hospital city county state department"
  ).split(" "),
);
/** Words behind a person's name. "do" is one only between commas: elsewhere it is a name. */
const SUFFIXES: ReadonlySet<string> = new Set(
  ["jr", "sr", "ii", "iii", "iv", ...credentials].filter((word) => word !== "do"),
);
const MAX_WORDS = 4;
/** Maximum length of each part of a person's name, in characters. */
const MAX_PART = 20;

/**
 * Returns how a TIN may be asked about, the likeliest type first; never empty. A person has an SSN or an ITIN, and a sole
 * proprietor may also have an EIN. Where the structure says nothing, a TIN is a business's unless it can't be, and a
 * person's only with a name that can be one. `legalName` is as it was given, and `sentName` in the form of the IRS.
 */
export function questionsFor(subject: {
  tin: string;
  entityType: string;
  legalName: string;
  sentName: string;
}): [AskedName, ...AskedName[]] {
  const { tin, entityType, legalName, sentName } = subject;
  const asBusiness = { TINType: "EIN", BusinessNm: sentName } as const;
  const isPerson = PERSONS.test(entityType);
  const personType = isPerson || SILENT_STRUCTURES.has(entityType.toLowerCase()) ? personTypeOf(tin) : undefined;
  const parts = personType && personName(legalName);
  if (!personType || !parts) return [asBusiness];
  const asPerson = { TINType: personType, ...parts };
  if (NO_EIN.has(tin.slice(0, 2))) return [asPerson];
  return isPerson ? [asPerson, asBusiness] : [asBusiness, asPerson];
}

/** Returns the type of a person's TIN that these nine digits can be. */
function personTypeOf(tin: string): "SSN" | "ITIN" | undefined {
  const [area, group, serial] = [tin.slice(0, 3), Number(tin.slice(3, 5)), tin.slice(5)];
  if (area.startsWith("9")) return ITIN_GROUPS.some(([from, to]) => group >= from && group <= to) ? "ITIN" : undefined;
  return area === "000" || area === "666" || group === 0 || serial === "0000" ? undefined : "SSN";
}

/** Returns the parts of a person's name, written either way ("SMITH, JOHN A"); undefined for one that is no person's. */
function personName(legalName: string) {
  const own = legalName.replace(/\s(?:d[/. ]?b[/. ]?a|doing business as)\b.*/i, "");
  const [before = [], ...others] = own.split(",").map(wordsOf);
  const after = others.filter((part) => before.length < 2 || !/^do$/i.test(part.join(" "))).flat();
  const words = [...after, ...before];
  const isName = words.every((word) => /^[A-Za-z-]+$/.test(word) && !BUSINESS.has(word.toLowerCase()));
  if (words.length < 2 || words.length > MAX_WORDS || !isName) return undefined;
  const surname = after.length > 0 ? before : before.slice(-1);
  const [first, ...middleNames] = words.slice(0, words.length - surname.length);
  const middle = middleNames.join(" ").slice(0, MAX_PART);
  return {
    FirstNm: first!.slice(0, MAX_PART),
    ...(middle && { MiddleNm: middle }),
    LastNm: surname.join(" ").slice(0, MAX_PART),
  };
}

function wordsOf(text: string): string[] {
  return irsName(text)
    .split(" ")
    .filter((word) => word !== "" && !SUFFIXES.has(word.toLowerCase()));
}
