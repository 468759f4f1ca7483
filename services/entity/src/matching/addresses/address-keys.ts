import { stateBefore, stateCodeOf, zip5Of } from "../places.ts";
import type { Address } from "./address.ts";
import { addressWords, readAddress, streetLine } from "./address.ts";
import { type AddressWords, splitAddress } from "./address-words.ts";
import { doorNumbers } from "./house-number.ts";
import { type ParsedAddress, parseStreetLines } from "./parse-address.ts";
import { readPlaceEnd } from "./parse-place.ts";
import type { Street } from "./parse-street.ts";
import { directionOf, uspsWords } from "./usps.ts";

/** The keys by which addresses are found for a one-line address. */
export interface AddressKeys {
  /** Keys of place, number and street, the likeliest first. */
  readonly exact: readonly string[];
  /** Prefixes of keys, for a mistyped street: place and number. */
  readonly near: readonly string[];
}

/** A house or box, and the first word of its street, "" for none. */
interface Door {
  readonly number: string;
  readonly street: string;
}

const MAX_KEYS = 300;
const MAX_PREFIXES = 60;
const MAX_NUMBERS = 6;
/** For addresses without a house number ("Quasar Plaza", perhaps after "Attn: …"). */
const MAX_LEADING_WORDS = 4;
const MAX_CITY_WORDS = 4;
const STATE_WITHIN_LAST = 8;

/** The keys under which an address is stored: `z:20190:1750:PRESIDENTS` by ZIP5, `c:RESTON:VA:1750:PRESIDENTS` by city. */
export function storedAddressKeys(address: Address): string[] {
  const line = addressWords(streetLine(address));
  const street = parseStreetLines(address.line1, address.line2);
  const read = [...doorsOf(street), ...doorsIn(line).slice(0, 1)];
  const doors =
    read.length > 0 ? read : line.slice(0, 1).map((word) => ({ number: word, street: streetWord(line, 0) }));
  const zip5 = zip5Of(address.zip);
  const city = addressWords(address.city).join("");
  const state = stateCodeOf(address.state) ?? addressWords(address.state)[0];
  const places = [...(zip5 ? [`z:${zip5}`] : []), ...(city && state ? [`c:${city}:${state}`] : [])];
  return [...new Set(places.flatMap((place) => doors.map((door) => `${place}:${door.number}:${door.street}`)))];
}

/** The keys for a one-line address; the addresses found must still agree. */
export function addressQueryKeys(text: string): AddressKeys {
  const { parsed, words } = readAddress(text);
  const split = splitAddress(text);
  const own = doorsOf(parsed);
  const leading = words
    .slice(0, MAX_LEADING_WORDS)
    .map((word, at) => ({ number: word, street: streetWord(words, at) }));
  const doors = [...own, ...doorsIn(words), ...(own.length > 0 ? [] : leading)];
  const places = [...new Set([...parsedPlaces(parsed), ...zipPlaces(words), ...cityPlaces(split)])];
  const within = (found: readonly string[]) => places.flatMap((place) => found.map((door) => `${place}:${door}`));
  // The number may end the street's line, as in "PO Box 9".
  const ends = doors.map(({ number }) => `${number}:`);
  const numbers = new Set([...own, ...doorsIn(words)].map(({ number }) => `${number}:`));
  return {
    exact: [...new Set(within([...doors.map(({ number, street }) => `${number}:${street}`), ...ends]))].slice(
      0,
      MAX_KEYS,
    ),
    near: within([...numbers]).slice(0, MAX_PREFIXES),
  };
}

/** The doors of a street that was read: each number of a range, and the box. */
function doorsOf({ number, name, box }: Street): Door[] {
  const street = name[0] ?? "";
  return [
    ...doorNumbers(number).map((each) => ({ number: each, street })),
    ...(box === "" ? [] : [{ number: box.replaceAll("-", ""), street: "" }]),
  ];
}

/** The doors that the numbers among the words may mean. */
function doorsIn(words: readonly string[]): Door[] {
  const numbers = [...words.keys()].filter((at) => /\d/.test(words[at]!)).slice(0, MAX_NUMBERS);
  return numbers.flatMap((at) => doorNumbers(words[at]!).map((number) => ({ number, street: streetWord(words, at) })));
}

/** The first word of the street's name after a number; "" for none. */
function streetWord(words: readonly string[], at: number): string {
  const isBefore = (word: string) => directionOf(word) || /^\d\/\d$/.test(word) || word === "HWY" || word === "CR";
  return words.slice(at + 1).find((word) => !isBefore(word)) ?? "";
}

function parsedPlaces({ city, state, zip5 }: ParsedAddress): string[] {
  const isCity = city.length > 0 && state !== "";
  return [...(zip5 === "" ? [] : [`z:${zip5}`]), ...(isCity ? [`c:${city.join("")}:${state}`] : [])];
}

function zipPlaces(words: readonly string[]): string[] {
  const zips = words.slice(1).flatMap((word) => zip5Of(word) ?? []);
  return zips.map((zip5) => `z:${zip5}`);
}

/** Cities beside their states, abroad and in military addresses beside any word that may name a region, in either order. */
function cityPlaces(split: AddressWords): string[] {
  const raw = split.words;
  const first = Math.max(1, raw.length - STATE_WITHIN_LAST);
  const ends = [...raw.keys()].map((at) => at + 1).filter((end) => end > first);
  const states = ends.flatMap((end) => {
    const state = stateBefore(raw, end);
    return state ? [{ start: end - state.length, end, key: state.code }] : [];
  });
  const isAbroad = readPlaceEnd(split).state === "";
  const regions = ends
    .filter((end) => isAbroad && !/\d/.test(raw[end - 1]!))
    .map((end) => ({ start: end - 1, end, key: uspsWords(raw.slice(end - 1, end))[0] ?? "" }));
  const lengths = Array.from({ length: MAX_CITY_WORDS }, (_, index) => index + 1);
  const before = (ends: typeof states) =>
    ends.flatMap(({ start, key }) =>
      lengths.filter((length) => length <= start).map((length) => cityKey(raw.slice(start - length, start), key)),
    );
  const after = (ends: typeof states) =>
    ends.flatMap(({ end, key }) =>
      lengths
        .filter((length) => end + length <= raw.length)
        .map((length) => cityKey(raw.slice(end, end + length), key)),
    );
  // These come last, because only a limited number of keys is looked up.
  const abroad = [...before(regions.toReversed()), ...after(regions.toReversed())];
  return [...before(states.toReversed()), ...after(states), ...abroad];
}

function cityKey(city: readonly string[], state: string): string {
  return `c:${uspsWords(city).join("")}:${state}`;
}
