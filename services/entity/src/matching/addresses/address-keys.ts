import type { Address } from "../../model/facts.ts";
import { addressWords } from "./address.ts";
import { type AddressWords, splitAddress } from "./address-words.ts";
import { readPlaceEnd } from "./parse-place.ts";
import { stateBefore, stateCodeOf, zip5Of } from "./places.ts";
import { directionOf, uspsWords } from "./usps.ts";

/** The keys by which addresses are found for a one-line address. */
export interface AddressKeys {
  /** Keys of place, number and street, the likeliest first. */
  readonly exact: readonly string[];
  /** Prefixes of keys, for a mistyped street: place and number. */
  readonly near: readonly string[];
}

const MAX_KEYS = 300;
const MAX_PREFIXES = 60;
const MAX_NUMBERS = 6;
/** For addresses without a house number ("Quasar Plaza", perhaps after "Attn: …"). */
const MAX_LEADING_WORDS = 4;
const MAX_CITY_WORDS = 4;
const STATE_WITHIN_LAST = 8;

/** The keys under which an address is stored: `z:20190:1750:PRESIDENTS` by ZIP5, `c:RESTON:VA:1750:PRESIDENTS` by city. */
export function storedAddressKeys({ line1, city, state, zip }: Address): string[] {
  const line = addressWords(line1);
  const at = Math.max(0, line.findIndex(hasDigit));
  const start = line[at];
  if (start === undefined) return [];
  const door = `${start}:${streetWord(line, at)}`;
  const zip5 = zip5Of(zip);
  const cityKey = addressWords(city).join(" ");
  const stateKey = stateCodeOf(state) ?? addressWords(state)[0];
  return [...(zip5 ? [`z:${zip5}:${door}`] : []), ...(cityKey && stateKey ? [`c:${cityKey}:${stateKey}:${door}`] : [])];
}

/** The keys for a one-line address; the addresses found must still agree. */
export function addressQueryKeys(text: string): AddressKeys {
  const split = splitAddress(text);
  const words = uspsWords(split.words);
  const numbers = [...words.keys()].filter((at) => hasDigit(words[at]!)).slice(0, MAX_NUMBERS);
  const starts = [...new Set([...numbers, ...[...words.keys()].slice(0, MAX_LEADING_WORDS)])];
  const places = [...new Set([...zipPlaces(words), ...cityPlaces(split)])];
  const doors = starts.map((at) => `${words[at]}:${streetWord(words, at)}`);
  // The number may end the street's line, as in "PO Box 9".
  const ends = starts.map((at) => `${words[at]}:`);
  const within = (found: readonly string[]) => places.flatMap((place) => found.map((door) => `${place}:${door}`));
  return {
    exact: [...new Set([...within(doors), ...within(ends)])].slice(0, MAX_KEYS),
    near: [...new Set(within(numbers.map((at) => `${words[at]}:`)))].slice(0, MAX_PREFIXES),
  };
}

/** The first word of the street's name after a number; "" for none. */
function streetWord(words: readonly string[], at: number): string {
  return words.slice(at + 1).find((word) => !directionOf(word) && !/^\d\/\d$/.test(word)) ?? "";
}

function hasDigit(word: string): boolean {
  return /\d/.test(word);
}

function zipPlaces(words: readonly string[]): string[] {
  const zips = words.slice(1).flatMap((word) => zip5Of(word) ?? []);
  return zips.map((zip5) => `z:${zip5}`);
}

/** Cities beside their states, in either order; abroad, beside any word that may name a region. */
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
    .filter((end) => isAbroad && !hasDigit(raw[end - 1]!))
    .map((end) => ({ start: end - 1, end, key: uspsWords(raw.slice(end - 1, end))[0] ?? "" }));
  const lengths = Array.from({ length: MAX_CITY_WORDS }, (_, index) => index + 1);
  const before = [...states, ...regions].flatMap(({ start, key }) =>
    lengths.filter((length) => length <= start).map((length) => cityKey(raw.slice(start - length, start), key)),
  );
  const after = states.flatMap(({ end, key }) =>
    lengths.filter((length) => end + length <= raw.length).map((length) => cityKey(raw.slice(end, end + length), key)),
  );
  return [...before, ...after];
}

function cityKey(city: readonly string[], state: string): string {
  return `c:${uspsWords(city).join(" ")}:${state}`;
}
