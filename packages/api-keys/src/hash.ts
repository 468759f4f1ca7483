import type { SecretKey } from "@vvs/config";
import { keyedHashes } from "@vvs/sealing";

/**
 * Hash by which an API key is stored and looked up. It does not reveal the key, and can't be checked without the
 * pepper.
 */
export interface ApiKeyHash {
  /** The pepper of the ring with which the hash was made. */
  readonly pepperId: string;
  /** HMAC-SHA256 of the whole key, 32 bytes. */
  readonly hash: Buffer;
}

/**
 * Returns a key's hash for each pepper of the ring, the newest first. Store the first and look up by all, so that
 * peppers can be rotated without downtime. A fast hash is enough for 190 random bits.
 */
export function hashApiKey(peppers: readonly SecretKey[], text: string): ApiKeyHash[] {
  return keyedHashes(peppers, text).map(({ key_id, hash }) => ({ pepperId: key_id, hash }));
}
