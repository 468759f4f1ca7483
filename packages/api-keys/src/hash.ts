import type { SecretKey } from "@vvs/config";
import { keyedHashes } from "@vvs/sealing";

/** A key as it is stored and looked up by: useless without the pepper, and no key can be made from it. */
export interface ApiKeyHash {
  /** Which pepper of the ring made it. */
  readonly pepperId: string;
  /** HMAC-SHA256 of the whole key, 32 bytes. */
  readonly hash: Buffer;
}

/**
 * A key's hash by each pepper of the ring, the newest first: store the first, look up by all, so that peppers rotate
 * without downtime. A fast hash is enough for 190 random bits.
 */
export function hashApiKey(peppers: readonly SecretKey[], text: string): ApiKeyHash[] {
  return keyedHashes(peppers, text).map(({ key_id, hash }) => ({ pepperId: key_id, hash }));
}
