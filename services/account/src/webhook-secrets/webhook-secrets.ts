import { randomBytes } from "node:crypto";
import { ServiceError } from "@vvs/errors";

const PREFIX = "whsec_";
const NEW_BYTES = 32;
const MIN_BYTES = 24;
const MAX_BYTES = 64;

/** How long the secret before still signs after a rotation, unless it is ended at once. */
export const OVERLAP_MS = 24 * 60 * 60 * 1000;

/** A new secret, as Standard Webhooks writes them: whsec_ and base64 of 32 random bytes. */
export function newWebhookSecret(): string {
  return PREFIX + randomBytes(NEW_BYTES).toString("base64");
}

/** A secret of the user's own. Errors: invalid_request where it is not whsec_ and canonical base64 of 24–64 bytes. */
export function checkedWebhookSecret(text: string): string {
  const encoded = text.startsWith(PREFIX) ? text.slice(PREFIX.length) : "";
  const bytes = Buffer.from(encoded, "base64");
  if (bytes.toString("base64") === encoded && bytes.length >= MIN_BYTES && bytes.length <= MAX_BYTES) return text;
  throw new ServiceError("invalid_request", {
    details: [{ path: "value", message: `must be ${PREFIX} and base64 of ${MIN_BYTES}–${MAX_BYTES} bytes` }],
  });
}

/** The secrets of a tenant, the one before only while a rotation keeps it: there are never more than two. */
export interface SecretPair<T> {
  readonly current: T;
  readonly previous?: T & { readonly valid_until: Date };
}

/** The pair after a replacement: the current one becomes the previous one, or is gone at once; the one before goes. */
export function replaced<T>(
  pair: SecretPair<T>,
  next: T,
  options: { endPreviousNow: boolean; now: Date },
): SecretPair<T> {
  if (options.endPreviousNow) return { current: next };
  return {
    current: next,
    previous: { ...pair.current, valid_until: new Date(options.now.getTime() + OVERLAP_MS) },
  };
}

/** What signs now, the current one first. */
export function signingNow<T>(pair: SecretPair<T>, now: Date): readonly T[] {
  return pair.previous && now < pair.previous.valid_until ? [pair.current, pair.previous] : [pair.current];
}
