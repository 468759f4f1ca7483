import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto";
import type { SecretKey } from "@vvs/config";

/** An encrypted secret: the id of the key that sealed it, and a box of nonce, ciphertext and tag. */
export interface Sealed {
  readonly key_id: string;
  readonly box: Uint8Array;
}

/**
 * The place to which a sealed value belongs: organization, environment, collection, id, field. A box that was moved to
 * another place can't be opened.
 */
export type Place = readonly [
  organizationId: string,
  environment: string,
  collection: string,
  id: string,
  field: string,
];

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts a text with the first key of the ring, by AES-256-GCM with a random nonce. */
export function seal(ring: readonly SecretKey[], place: Place, plaintext: string): Sealed {
  const { id, key } = ring[0]!;
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(aad(place));
  const ciphertext = Buffer.concat([cipher.update(plaintext, "utf8"), cipher.final()]);
  return { key_id: id, box: Buffer.concat([nonce, ciphertext, cipher.getAuthTag()]) };
}

/** Decrypts a text with the key of the ring that sealed it. Errors: an unknown key, another place, a changed box. */
export function open(ring: readonly SecretKey[], place: Place, sealed: Sealed): string {
  const found = ring.find(({ id }) => id === sealed.key_id);
  if (!found) throw new Error(`the ring has no key ${sealed.key_id}`);
  const box = Buffer.from(sealed.box);
  const decipher = createDecipheriv("aes-256-gcm", found.key, box.subarray(0, NONCE_BYTES));
  decipher.setAAD(aad(place)).setAuthTag(box.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(box.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]).toString("utf8");
}

/** Returns the HMAC-SHA256 for each key of the ring, the newest first. Store the first and look up by all. */
export function keyedHashes(ring: readonly SecretKey[], text: string): { key_id: string; hash: Buffer }[] {
  return ring.map(({ id, key }) => ({ key_id: id, hash: createHmac("sha256", key).update(text, "utf8").digest() }));
}

function aad(place: Place): Buffer {
  return Buffer.from(JSON.stringify(place), "utf8");
}
