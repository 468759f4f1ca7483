import { encodeBase32 } from "./base32.ts";
import { deterministicUuidV7, uuidV7 } from "./uuid.ts";

/** What the ids of the product begin with. */
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
  | "mail";

/** A new TypeID: prefix, underscore, UUIDv7 in base32. Ids of one prefix sort by creation time (to the millisecond). */
export function newId(prefix: IdPrefix, at: Date = new Date()): string {
  return `${prefix}_${encodeBase32(uuidV7(at))}`;
}

/** The same TypeID for the same time and parts: a redelivered record gives the same id, which a unique index refuses. */
export function deterministicId(prefix: IdPrefix, at: Date, parts: readonly string[]): string {
  return `${prefix}_${encodeBase32(deterministicUuidV7(at, parts))}`;
}

/** Could this text be an id with that prefix? Spares a look-up for what can't exist. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return new RegExp(`^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`).test(text);
}
