import { directionOf, numberOf, unitOf } from "./usps.ts";

/** Units without an identifier; those of the second set are also first words of cities (Front Royal, Upper Marlboro). */
const alone = new Set(["REAR", "BSMT", "PH", "LBBY"]);
const aloneAtEnd = new Set(["LOWR", "UPPR", "FRNT", "SIDE"]);
const floorLike = new Set(["FL", "LEVEL", "TOWER", "BLDG", "WING"]);

/**
 * Reads units from `from` on: designators with their identifiers, "# 5", "2nd Floor", "North Tower"; after a street also
 * numbers without a designator, and designators without an identifier.
 */
export function readUnits(
  words: readonly string[],
  from: number,
  behindStreet: boolean,
): { units: string[]; next: number } {
  const units: string[] = [];
  let at = from;
  for (let read = readUnit(words, at, behindStreet); read; read = readUnit(words, at, behindStreet)) {
    units.push(...read.id);
    at = read.next;
  }
  return { units, next: at };
}

interface Unit {
  readonly id: readonly string[];
  readonly next: number;
}

function readUnit(words: readonly string[], at: number, behindStreet: boolean): Unit | undefined {
  const word = words[at];
  if (word === undefined) return undefined;
  const next = words[at + 1];
  if (word === "#") return next === undefined || unitOf(next) ? { id: [], next: at + 1 } : { id: [next], next: at + 2 };
  const unit = unitOf(word);
  if (unit) return readDesignated(words, at, unit, behindStreet);
  const ordinal = numberOf(word)?.digits ?? (/^\d+(?:ST|ND|RD|TH)?$/.test(word) ? word : undefined);
  if (next !== undefined && floorLike.has(unitOf(next) ?? "") && (ordinal || directionOf(word))) {
    return { id: [ordinal?.replace(/\D/g, "") ?? directionOf(word)!], next: at + 2 };
  }
  return behindStreet && /\d/.test(word) ? { id: [word], next: at + 1 } : undefined;
}

function readDesignated(words: readonly string[], at: number, unit: string, behindStreet: boolean): Unit | undefined {
  const idAt = /^(?:#|NO|NUMBER)$/.test(words[at + 1] ?? "") ? at + 2 : at + 1;
  const id = words[idAt];
  if (id !== undefined && isUnitId(id)) return { id: [numberOf(id)?.digits ?? id], next: idAt + 1 };
  const isLevel = unitOf(words[at + 1] ?? "") === "LEVEL";
  const isEnd = at + 1 === words.length;
  if (alone.has(unit) || (aloneAtEnd.has(unit) && (isLevel || isEnd)))
    return { id: [unit], next: at + (isLevel ? 2 : 1) };
  return behindStreet && !aloneAtEnd.has(unit) ? { id: [], next: idAt } : undefined;
}

function isUnitId(word: string): boolean {
  return /\d/.test(word) || /^[A-Z]{1,2}$/.test(word) || numberOf(word) !== undefined;
}
