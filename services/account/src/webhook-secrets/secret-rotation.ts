import { randomBytes } from "node:crypto";
import { invalid } from "../refusals.ts";

const PREFIX = "whsec_";
const NEW_BYTES = 32;
const MIN_BYTES = 24;
const MAX_BYTES = 64;

/** How long the previous secret still signs after a rotation, unless it is ended immediately. */
export const OVERLAP_MS = 24 * 60 * 60 * 1000;

/** Returns a new secret in the format of Standard Webhooks: whsec_ and base64 of 32 random bytes. */
export function newWebhookSecret(): string {
  return PREFIX + randomBytes(NEW_BYTES).toString("base64");
}

/** Checks a secret that a user chose. Errors: invalid_request unless it is whsec_ and canonical base64 of 24–64 bytes. */
export function checkedWebhookSecret(text: string): string {
  const encoded = text.startsWith(PREFIX) ? text.slice(PREFIX.length) : "";
  const bytes = Buffer.from(encoded, "base64");
  if (bytes.toString("base64") === encoded && bytes.length >= MIN_BYTES && bytes.length <= MAX_BYTES) return text;
  throw invalid("value", `must be ${PREFIX} and base64 of ${MIN_BYTES}–${MAX_BYTES} bytes`);
}

/** The secrets of a tenant: never more than two. */
export interface SecretPair<T> {
  readonly current: T;
  /** During a rotation. */
  readonly previous?: T & { readonly valid_until: Date };
}

/** Returns the pair after a replacement: the current secret becomes the previous one, or ends immediately. */
export function replaced<T>(
  pair: SecretPair<T>,
  next: T,
  options: { endPreviousNow: boolean; now: Date },
): SecretPair<T> {
  if (options.endPreviousNow) return { current: next };
  const valid_until = new Date(options.now.getTime() + OVERLAP_MS);
  return { current: next, previous: { ...pair.current, valid_until } };
}

/** Returns the secrets that sign now, the current one first. */
export function signingNow<T>(pair: SecretPair<T>, now: Date): readonly T[] {
  return pair.previous && now < pair.previous.valid_until ? [pair.current, pair.previous] : [pair.current];
}
