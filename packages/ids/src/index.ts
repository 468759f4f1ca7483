import { decodeTime, encodeBase32 } from "./base32.ts";
import { deterministicUuidV7, uuidV7 } from "./uuid.ts";

/** Prefixes of the product's ids. */
export type IdPrefix =
  | "ent"
  | "ver"
  | "mon"
  | "evt"
  | "evd"
  | "snp"
  | "org"
  | "usr"
  | "key"
  | "dlv"
  | "req"
  | "pky"
  | "inv"
  | "mail"
  | "tin"
  | "job";

/**
 * Returns a new TypeID: prefix, underscore, UUIDv7 in base32. Ids of one prefix sort by creation time, in milliseconds.
 */
export function newId(prefix: IdPrefix, at: Date = new Date()): string {
  return `${prefix}_${encodeBase32(uuidV7(at))}`;
}

/**
 * Returns the same TypeID for the same time and parts, so that a unique index refuses the effect of a redelivered
 * record.
 */
export function deterministicId(prefix: IdPrefix, at: Date, parts: readonly string[]): string {
  return `${prefix}_${encodeBase32(deterministicUuidV7(at, parts))}`;
}

/** Returns the lowest id of this prefix that is created at this time, for queries of a range of time. */
export function firstId(prefix: IdPrefix, at: Date): string {
  return `${prefix}_${encodeBase32(uuidV7(at, new Uint8Array(10)))}`;
}

/** Returns the time at which an id was created. Of a text that is no id the result means nothing. */
export function timeOfId(id: string): Date {
  return new Date(decodeTime(id.slice(id.indexOf("_") + 1)));
}

/** Returns whether a text has the form of an id with this prefix; otherwise no look-up is needed. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return new RegExp(`^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`).test(text);
}
