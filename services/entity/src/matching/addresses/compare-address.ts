import type { PartOutcome } from "../explanation.ts";
import { stateCodeOf } from "../places.ts";
import type { Address } from "./address.ts";
import { type AddressQuery, addressAgrees, addressWords, indexOfRun } from "./address.ts";
import { type Agreement, similarity, streetAgreement } from "./compare-street.ts";
import { numberAgreement, plain, unitsOf } from "./house-number.ts";
import { parseStreetLines } from "./parse-address.ts";

export type AddressPart = "number" | "street" | "unit" | "box" | "city" | "state" | "zip";

export interface ComparedPart {
  readonly part: AddressPart;
  readonly outcome: PartOutcome;
  /** Log-odds for the same address; negative against it. */
  readonly evidence: number;
}

export interface AddressComparison {
  /** The parts that both addresses have. */
  readonly parts: readonly ComparedPart[];
  /** The sum of the parts' evidence. */
  readonly evidence: number;
  /** Whether it agrees by the rule of exact look-ups. */
  readonly isExact: boolean;
  /** Whether house number or box agree, and ZIP code or city with state: by these an address is found. */
  readonly isFindable: boolean;
}

/** The evidence of a part in full agreement and in full contradiction. */
const partEvidence: Readonly<Record<AddressPart, readonly [agrees: number, contradicts: number]>> = {
  street: [2, -3.5],
  // Another house on the same street is another address, whatever else agrees.
  number: [1.5, -5],
  box: [3, -4],
  zip: [1.5, -1],
  city: [0.8, -0.8],
  unit: [0.4, -0.5],
  state: [0.3, -2],
};
/** The share of a house number's evidence where the street differs. */
const numberElsewhere = 0.3;
/** Evidence of another city where ZIP code or state agrees: people write a borough or the neighboring city. */
const cityAlias = -0.2;

/** Compares a one-line address with an address of an entity, part by part; a part that either lacks does not count. */
export function compareAddress(query: AddressQuery, address: Address): AddressComparison {
  const own = parseStreetLines(address.line1, address.line2);
  const asked = query.parsed;
  const zip = compareZip(asked.zip5, address.zip);
  const stateCode = stateCodeOf(address.state);
  const state = asked.state && stateCode ? Number(asked.state === stateCode) : undefined;
  const street = streetAgreement(query, own, addressWords(address.city));
  const number = numberAgreement(asked, own);
  const box = asked.box && own.box ? Number(plain(asked.box) === plain(own.box)) : undefined;
  const city = cityAgreement(asked.city, addressWords(address.city), query.words);
  const isOtherStreet = street !== undefined && street < 0.5;
  const parts = [
    part("number", number, isOtherStreet ? numberElsewhere : 1),
    part("street", street),
    part("unit", unitAgreement(unitsOf(asked), unitsOf(own))),
    part("box", box),
    cityPart(city, zip === 1 || state === 1),
    part("state", state),
    part("zip", zip),
  ].filter((compared) => compared.outcome !== "absent");
  const evidence = parts.reduce((sum, compared) => sum + compared.evidence, 0);
  const isDoor = number || box || (street === 1 && [asked, own].every((each) => each.number === "" && each.box === ""));
  const isFindable = Boolean(isDoor) && (zip === 1 || (city === 1 && state === 1));
  return { parts, evidence, isExact: addressAgrees(query, address), isFindable };
}

function part(name: AddressPart, agreement: Agreement, share = 1): ComparedPart {
  if (agreement === undefined) return { part: name, outcome: "absent", evidence: 0 };
  const [agrees, contradicts] = partEvidence[name];
  const evidence = share * (agreement * agrees + (1 - agreement) * contradicts);
  return { part: name, outcome: agreement >= 0.5 ? "agrees" : "contradicts", evidence };
}

/** A box and a building in one town have different ZIP codes of one district: such codes contradict less. */
function compareZip(asked: string, zip: string): Agreement {
  const own = /^\d{5}/.exec(zip)?.[0];
  if (!asked || !own) return undefined;
  if (asked === own) return 1;
  return asked.slice(0, 3) === own.slice(0, 3) ? 0.25 : 0;
}

function cityPart(agreement: Agreement, isPlaceKnown: boolean): ComparedPart {
  if (agreement === undefined || agreement >= 0.5 || !isPlaceKnown) return part("city", agreement);
  return { part: "city", outcome: "contradicts", evidence: cityAlias };
}

function cityAgreement(asked: readonly string[], own: readonly string[], words: readonly string[]): Agreement {
  if (own.length === 0) return undefined;
  if (asked.join("") === own.join("")) return 1;
  if (asked.length === 0) return undefined;
  // Where the street was not distinguished from the city, the entity's city tells.
  const at = indexOfRun(words, own);
  const isNearEnd = words.length - at <= own.length + asked.length + 2;
  if (at > 0 && (isNearEnd || asked.includes(own.at(-1)!))) return 1;
  return similarity(asked.join(" "), own.join(" ")) >= 0.75 ? 0.8 : 0;
}

function unitAgreement(asked: readonly string[], own: readonly string[]): Agreement {
  if (asked.length === 0 || own.length === 0) return undefined;
  return Number(asked.some((unit) => own.includes(unit)));
}
