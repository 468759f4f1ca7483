import type { AddressWords } from "./address-words.ts";
import { readBox } from "./parse-box.ts";
import { beginsCity, cityLength } from "./parse-city.ts";
import { readHighway } from "./parse-highway.ts";
import { findNumber, readNumber } from "./parse-number.ts";
import { readUnits } from "./parse-units.ts";
import { directionOf, isPlainSuffix, suffixOf, unitOf, uspsWords } from "./usps.ts";

/** The street part of an address in USPS form; an absent part is "" or empty. */
export interface Street {
  /** `1750`, `37-28`, `123 1/2`, `W148N9748`. */
  readonly number: string;
  readonly preDirection: string;
  /** The street's own words, without type and directions: `5TH`, `MARTIN LUTHER KING JR`, `22` of US Highway 22. */
  readonly name: readonly string[];
  /** `ST`, `AVE`; `HWY` for a numbered highway or route, `CR` for a local one, `RR` and `HC` for a rural route. */
  readonly type: string;
  readonly postDirection: string;
  /** Identifiers of suites, rooms, floors and buildings, without "Suite" and the like. */
  readonly units: readonly string[];
  /** The number of a post office box, or of a box on a rural route. */
  readonly box: string;
}

const emptyStreet: Street = {
  number: "",
  preDirection: "",
  name: [],
  type: "",
  postDirection: "",
  units: [],
  box: "",
};

/** A street, and the position where the rest (the city) begins. */
interface Reading {
  readonly street: Street;
  readonly next: number;
}

/** Reads the street from the words before `end`, with its post office box. With `hasPlace`, a city is expected after it. */
export function readStreet({ words: all, breaks }: AddressWords, end: number, hasPlace: boolean): Reading {
  const words = all.slice(0, end);
  const box = readBox(words);
  const at = findNumber(words, breaks, box);
  if (at === -1) {
    if (!box) return readWithoutNumber(words, breaks, hasPlace);
    const { units, next } = readUnits(words, box.end, true);
    return { street: { ...emptyStreet, ...box.street, units }, next };
  }
  const numbered = readNumber(words, breaks, at);
  const { street, next } = readRoad(words, breaks, numbered.next, hasPlace, box?.start);
  const behind = box && box.start >= next ? readUnits(words, box.end, true).next : next;
  const units = [...unitsBefore(words, at), ...street.units];
  return { street: { ...street, number: numbered.number, units, box: box?.street.box ?? "" }, next: behind };
}

/** Units before the street: "Suite 200, 7000 Peachtree Rd". */
function unitsBefore(words: readonly string[], end: number): string[] {
  const before = words.slice(0, end);
  const units: string[] = [];
  for (let at = 0; at < end; ) {
    const read = readUnits(before, at, false);
    units.push(...read.units);
    at = Math.max(read.next, at + 1);
  }
  return units;
}

/** Reads a street without a house number, which only a suffix or a highway's name shows. */
function readWithoutNumber(words: readonly string[], breaks: ReadonlySet<number>, hasPlace: boolean): Reading {
  const suffixAt = words.findIndex(
    (word, at) => at > 0 && isPlainSuffix(word) && !breaks.has(at) && !beginsCity(words, at),
  );
  const highwayAt = words.findIndex((_, at) => readHighway(words, at) !== undefined);
  if (suffixAt !== -1 || highwayAt !== -1) {
    const lineStart = Math.max(0, ...[...breaks].filter((at) => at <= suffixAt));
    return readRoad(words, breaks, highwayAt !== -1 ? highwayAt : lineStart, hasPlace);
  }
  const unitsAt = words.findIndex((_, at) => readUnits(words, at, false).next > at);
  if (unitsAt === -1) return { street: emptyStreet, next: 0 };
  const { units, next } = readUnits(words, unitsAt, true);
  return { street: { ...emptyStreet, units }, next };
}

/** Reads directions, name, type and units after the house number, up to a box. */
function readRoad(
  words: readonly string[],
  breaks: ReadonlySet<number>,
  start: number,
  hasPlace: boolean,
  boxStart = words.length,
): Reading {
  let segmentEnd = start + 1;
  while (segmentEnd < words.length && segmentEnd !== boxStart && !breaks.has(segmentEnd)) segmentEnd++;
  const preDirection = hasPreDirection(words, start, segmentEnd) ? directionOf(words[start]!)! : "";
  const from = preDirection ? start + 1 : start;
  const name: Name = readHighway(words, from) ?? readName(words, from, segmentEnd, hasPlace);
  const hasPost = isPostDirection(words, breaks, name.next);
  const postDirection = hasPost ? directionOf(words[name.next]!)! : (name.postDirection ?? "");
  const { units, next } = readUnits(words, name.next + (hasPost ? 1 : 0), true);
  return { street: { ...emptyStreet, preDirection, name: name.name, type: name.type, postDirection, units }, next };
}

/** True for a direction before the name; false where it is the name ("South Boulevard", "E St"). */
function hasPreDirection(words: readonly string[], at: number, end: number): boolean {
  const next = words[at + 1];
  if (at + 1 >= end || next === undefined || next === "AND" || !directionOf(words[at]!)) return false;
  if (!isPlainSuffix(next) || readHighway(words, at + 1)) return true;
  const afterNext = at + 2 < end ? words[at + 2]! : undefined;
  if (afterNext === undefined || directionOf(afterNext) || unitOf(afterNext) || afterNext === "#") return false;
  // "E Boulevard Ave", "N St Louis", "W Avenue of …".
  return suffixOf(afterNext) !== undefined || next === "ST" || next === "DR" || afterNext === "OF";
}

/** True for a direction after the type: abbreviated, or in full where no city can begin with it. */
function isPostDirection(words: readonly string[], breaks: ReadonlySet<number>, at: number): boolean {
  const word = words[at];
  if (word === undefined || !directionOf(word) || beginsCity(words, at)) return false;
  const next = words[at + 1];
  if (beginsCity(words, at + 1)) return true;
  return word.length <= 2 || next === undefined || breaks.has(at + 1) || unitOf(next) !== undefined || next === "#";
}

interface Name {
  readonly name: readonly string[];
  readonly type: string;
  readonly postDirection?: string;
  readonly next: number;
}

function readName(words: readonly string[], from: number, segmentEnd: number, hasPlace: boolean): Name {
  const stop = nameEnd(words, from, segmentEnd);
  // No unit or comma separates the street from the city.
  const isOpen = stop === words.length;
  const suffixAt = findSuffix(words, from, stop, isOpen, hasPlace);
  if (suffixAt !== -1) {
    // "Avalon Park South Blvd".
    const isDirected = suffixAt - from > 1 && directionOf(words[suffixAt - 1]!) !== undefined;
    const postDirection = isDirected ? directionOf(words[suffixAt - 1]!) : undefined;
    const name = uspsWords(words.slice(from, isDirected ? suffixAt - 1 : suffixAt));
    return { name, type: suffixOf(words[suffixAt]!)!, postDirection, next: suffixAt + 1 };
  }
  const next = stop - (isOpen && hasPlace ? cityLength(words.slice(from, stop)) : 0);
  const last = next - 1 > from && directionOf(words[next - 1]!) ? next - 1 : next;
  return { name: uspsWords(words.slice(from, last)), type: "", next: last };
}

/** The position of a unit, or of a number after a street's type; else the end of the segment. */
function nameEnd(words: readonly string[], from: number, end: number): number {
  for (let at = from + 1; at < end; at++) {
    if (readUnits(words, at, false).next > at) return at;
    if (!/^\d+[A-Z]?$/.test(words[at]!)) continue;
    const isBehindType = isPlainSuffix(words[at - 1]!) && at - 1 > from;
    if (isBehindType || (!words.slice(at, end).some(isPlainSuffix) && !/^(?:OLD|BUSINESS)$/.test(words[at - 1]!)))
      return at;
  }
  return Math.max(end, from);
}

const commonSuffixes = new Set(["ST", "AVE", "RD", "DR", "BLVD", "LN", "CT", "CIR", "HWY", "PKWY", "PL", "TER"]);

/** The position of the street's type, -1 for none. `isOpen`: a city may follow without a comma. */
function findSuffix(words: readonly string[], from: number, stop: number, isOpen: boolean, hasPlace: boolean): number {
  const all: number[] = [];
  for (let at = from + 1; at < stop; at++) if (suffixOf(words[at]!) && !(isOpen && beginsCity(words, at))) all.push(at);
  const isLast = (at: number) => at === stop - 1 || (at === stop - 2 && directionOf(words[at + 1]!) !== undefined);
  const plain = all.filter((at) => isPlainSuffix(words[at]!));
  if (!isOpen || !hasPlace) {
    const last = all.findLast(isLast);
    if (last !== undefined) return last;
    if (!isOpen) return plain.at(-1) ?? -1;
  }
  const first = plain.find((at) => commonSuffixes.has(suffixOf(words[at]!)!)) ?? plain[0];
  // "Fox Hollow Rome": a word must be left for the city.
  if (first === undefined) return (hasPlace ? all.find((at) => at + 1 < stop) : undefined) ?? -1;
  return all.includes(first + 1) && plain.includes(first + 1) ? first + 1 : first;
}
