import type { SecretKey } from "@vvs/config";
import { keyedHashes } from "@vvs/sealing";

/**
 * Returns the HMAC-SHA256 of a whole key for each pepper of the ring, the newest first. Store the first and look up by
 * all, so that peppers can be rotated without downtime. A fast hash is enough for 190 random bits; without the pepper it
 * neither reveals nor checks a key.
 */
export function hashApiKey(peppers: readonly SecretKey[], text: string): { pepperId: string; hash: Buffer }[] {
  return keyedHashes(peppers, text).map(({ key_id, hash }) => ({ pepperId: key_id, hash }));
}
