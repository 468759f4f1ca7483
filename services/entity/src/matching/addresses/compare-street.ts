import { osaDistance } from "../osa-distance.ts";
import { type AddressQuery, indexOfRun } from "./address.ts";
import { plain } from "./house-number.ts";
import type { Street } from "./parse-street.ts";

/** From 0 (contradicts) to 1 (agrees); undefined where either address lacks the part. */
export type Agreement = number | undefined;

/** Compares streets; the name counts more than type and direction ("Elm St", "Elm Ave"; "N Main", "S Main"). */
export function streetAgreement({ parsed, words }: AddressQuery, own: Street, city: readonly string[]): Agreement {
  if (own.name.length === 0 || parsed.name.length === 0) return undefined;
  const name = nameAgreement(parsed, own, endsBeforeCity(parsed.number, own, city, words));
  if (name < 0.5) return 0;
  const isSame = (asked: string, its: string) => !asked || !its || asked === its;
  const directions = (street: Street) => street.preDirection + street.postDirection;
  const type = isSame(parsed.type, own.type) ? 1 : 0.75;
  const direction = isSame(directions(parsed), directions(own)) ? 1 : 0.6;
  return name * type * direction;
}

function nameAgreement(asked: Street, own: Street, isSurelyMeant: boolean): number {
  const [one, other] = [nameOf(asked), nameOf(own)];
  if (one === other || isSurelyMeant) return 1;
  // "Broadway" of "Broadway Ave", whose type was read as part of the name on one side; "State Steet" of "State St".
  if (`${one}${asked.type}` === other || one === `${other}${own.type}`) return 1;
  if (isMistypedType(asked, own) || isMistypedType(own, asked)) return 0.9;
  if (/\d/.test(one) || /\d/.test(other)) return withoutOrdinal(one) === withoutOrdinal(other) ? 1 : 0;
  const similar = similarity(one, other);
  return similar >= 0.7 ? similar : 0;
}

/**
 * True where the entity's street is between the number asked for and the entity's city. Without a comma, the street may
 * have been read with a word too many or too few.
 */
function endsBeforeCity(number: string, own: Street, city: readonly string[], words: readonly string[]): boolean {
  const at = words.indexOf(plain(number));
  const nameAt = indexOfRun(words, own.name);
  const cityAt = indexOfRun(words, city);
  if (number === "" || at === -1 || cityAt === -1 || nameAt <= at || nameAt - at > 2) return false;
  const between = words.slice(nameAt + own.name.length, cityAt);
  return cityAt >= nameAt + own.name.length && between.every((word) => word === own.type || word === own.postDirection);
}

/** The street's name in one piece. Martin Luther King has streets in many spellings. */
function nameOf({ name }: Street): string {
  const isKing = name.includes("KING") && name.some((word) => word === "MARTIN" || word === "LUTHER" || word === "ML");
  return isKing || name.join("") === "MLK" ? "KING" : name.join("");
}

const types = ["STREET", "AVENUE", "ROAD", "DRIVE", "BOULEVARD", "LANE", "COURT", "PLACE", "PARKWAY", "HIGHWAY"];

/** True where one name has one more word than the other, which is a mistyped type. */
function isMistypedType({ name, type }: Street, other: Street): boolean {
  const last = name.at(-1);
  if (type !== "" || last === undefined || last.length < 4 || name.length !== other.name.length + 1) return false;
  return name.slice(0, -1).join() === other.name.join() && types.some((each) => osaDistance(last, each, 2) <= 2);
}

function withoutOrdinal(name: string): string {
  return name.replace(/(\d)(?:ST|ND|RD|TH)$/, "$1");
}

/** The share of letters without typing errors, 0–1; 0 where more than a fifth are errors. */
export function similarity(one: string, other: string): number {
  const longest = Math.max(one.length, other.length);
  const allowed = longest < 4 ? 0 : Math.ceil(longest / 5);
  const distance = osaDistance(one, other, allowed);
  return distance > allowed ? 0 : 1 - distance / longest;
}
