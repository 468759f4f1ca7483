import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { SecretKey } from "@vvs/config";

const ID_BYTES = 16;
const TIME_BYTES = 6;
const MAC_BYTES = 32;
/** How long a browser counts as known after its last sign-in. */
export const KNOWN_MS = 365 * 24 * 60 * 60_000;

export type KnownDevices = ReturnType<typeof createKnownDevices>;

/**
 * Recognizes browsers that signed a user in before, by a signed token in a cookie. The token signs nobody in: it only
 * gives the browser limits of its own, for the sign-ins of this one user. Keys are newest first; all of them verify.
 */
export function createKnownDevices({ keys, now }: { keys: readonly SecretKey[]; now: () => Date }) {
  function mac(key: SecretKey, content: Buffer, userId: string): Buffer {
    const own = createHmac("sha256", key.key).update("known device").digest();
    return createHmac("sha256", own).update(content).update(userId, "utf8").digest();
  }

  return {
    /** Returns the token of a browser that has just signed a user in, base64url. */
    issue(userId: string): string {
      const content = Buffer.concat([randomBytes(ID_BYTES), Buffer.alloc(TIME_BYTES)]);
      content.writeUIntBE(now().getTime(), ID_BYTES, TIME_BYTES);
      return Buffer.concat([content, mac(keys[0]!, content, userId)]).toString("base64url");
    },

    /** Returns the id of the browser with this token; undefined unless it signed this user in within the last year. */
    idOf(token: string, userId: string): string | undefined {
      const bytes = Buffer.from(token, "base64url");
      if (bytes.length !== ID_BYTES + TIME_BYTES + MAC_BYTES) return undefined;
      const content = bytes.subarray(0, ID_BYTES + TIME_BYTES);
      const isOurs = keys.some((key) => timingSafeEqual(mac(key, content, userId), bytes.subarray(content.length)));
      if (!isOurs || now().getTime() - content.readUIntBE(ID_BYTES, TIME_BYTES) >= KNOWN_MS) return undefined;
      return createHash("sha256").update(content).digest("hex");
    },
  };
}
