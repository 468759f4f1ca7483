import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";

/** Maximum number of vendors of a job. */
export const MAX_VENDORS = 10_000;
/** Bytes that are read before other requests have their turn: about a millisecond. */
const SLICE_BYTES = 256 * 1_024;

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY] = [0x7b, 0x7d, 0x5b, 0x5d];
/** Two for each entry, and one entry more than a job may have, so that it is refused. Memory grows with no further ones. */
const MAX_PLACES = 2 * (MAX_VENDORS + 1);
const KEY = "vendors";
/** Length of the key with each character written as \uXXXX, and its quotes. */
const MAX_KEY_BYTES = 6 * KEY.length + 2;

/**
 * The entries of the array `vendors` of a body, at most `MAX_VENDORS` + 1, as their texts. What is between its brackets is read
 * later, in slices.
 */
export interface VendorTexts {
  readonly count: number;
  /** Returns the bytes of an entry, which need not be JSON. */
  readonly at: (index: number) => Buffer;
  /** Stands for the array where the body is compared with that of another call. */
  readonly toJSON: () => object;
}

/** Returns whether a value stands for an array of vendors. */
export function isVendorTexts(value: unknown): value is VendorTexts {
  return typeof value === "object" && value !== null && "toJSON" in value && "at" in value && "count" in value;
}

/**
 * Cuts the entries of the array `vendors` out of the text of a JSON object, without parsing them. Returns the text with an empty
 * array in its place; `vendors` is undefined where the text has none there. `isRepeated` where the object has more than one
 * member of this name. Other requests have their turn meanwhile.
 */
export async function cutVendors(
  bytes: Buffer,
): Promise<{ envelope: Buffer; vendors: VendorTexts | undefined; isRepeated: boolean }> {
  const places: number[] = [];
  let array: { begin: number; end: number } | undefined;
  let [depth, isInText, textBegin, isAfterKey, entryBegin] = [0, false, 0, false, -1];
  let members = 0;
  let sliceEnd = SLICE_BYTES;

  const endEntry = (at: number) => {
    if (places.length < MAX_PLACES) places.push(entryBegin, at);
    entryBegin = at + 1;
  };
  for (let at = 0; at < bytes.length; at++) {
    if (at >= sliceEnd) {
      sliceEnd += SLICE_BYTES;
      await setImmediate();
    }
    const byte = bytes[at];
    if (isInText) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) {
        isInText = false;
        isAfterKey = depth === 1 && isKey(bytes.subarray(textBegin, at + 1));
      }
    } else if (byte === QUOTE) [isInText, textBegin, isAfterKey] = [true, at, false];
    else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      depth++;
      if (byte === OPEN_ARRAY && isAfterKey && !array) entryBegin = at + 1;
      isAfterKey = false;
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      depth--;
      if (depth !== 1 || entryBegin < 0 || array) continue;
      const begin = places[0] ?? entryBegin;
      if (places.length > 0 || bytes.subarray(begin, at).toString("latin1").trim() !== "") endEntry(at);
      array = { begin, end: at };
    } else if (byte === COMMA && depth === 2 && entryBegin >= 0 && !array) {
      endEntry(at);
    } else if (byte === COLON) members += isAfterKey ? 1 : 0;
    else if (isAfterKey && !isSpace(byte)) isAfterKey = false;
  }
  const isRepeated = members > 1;
  if (!array) return { envelope: bytes, vendors: undefined, isRepeated };
  const envelope = Buffer.concat([bytes.subarray(0, array.begin), bytes.subarray(array.end)]);
  const content = bytes.subarray(array.begin, array.end);
  const vendors = {
    count: places.length / 2,
    at: (index: number) => bytes.subarray(places[2 * index], places[2 * index + 1]),
    toJSON: () => ({ sha256: createHash("sha256").update(content).digest("hex") }),
  };
  return { envelope, vendors, isRepeated };
}

/** Returns whether a JSON string is the key, which may be written with escapes. */
function isKey(text: Buffer): boolean {
  if (text.length > MAX_KEY_BYTES) return false;
  try {
    return JSON.parse(text.toString("latin1")) === KEY;
  } catch {
    return false;
  }
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
