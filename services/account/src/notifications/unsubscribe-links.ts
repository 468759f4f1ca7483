import { createHmac, timingSafeEqual } from "node:crypto";
import type { SecretKey } from "@vvs/config";

/** A member as a link means them. */
interface Subscriber {
  readonly _id: string;
  readonly organization_id: string;
}

export type UnsubscribeLinks = ReturnType<typeof createUnsubscribeLinks>;

/**
 * The tokens of links that turn a member's emails off: the user's id with a signature, which only works for this person in
 * this organization, any number of times. Keys are newest first; all of them verify.
 */
export function createUnsubscribeLinks({ keys }: { keys: readonly SecretKey[] }) {
  function mac(key: SecretKey, { _id, organization_id }: Subscriber): Buffer {
    const own = createHmac("sha256", key.key).update("unsubscribe").digest();
    return createHmac("sha256", own).update(`${organization_id}:${_id}`, "utf8").digest();
  }

  return {
    token: (subscriber: Subscriber): string => `${subscriber._id}.${mac(keys[0]!, subscriber).toString("base64url")}`,

    /** Returns the id of the user whom a token names. Whether it is genuine, `isGenuine` finds out. */
    userId: (token: string): string => token.split(".", 1)[0]!,

    isGenuine(token: string, subscriber: Subscriber): boolean {
      const given = Buffer.from(token.slice(token.indexOf(".") + 1), "base64url");
      return keys.some((key) => {
        const own = mac(key, subscriber);
        return own.length === given.length && timingSafeEqual(own, given);
      });
    },
  };
}
