import { createHash, randomBytes } from "node:crypto";
import { ServiceError } from "@vvs/errors";
import { addressGroup } from "../sessions/sign-in-limits.ts";
import type { AccountStore, PasskeyChallengeDocument } from "../store.ts";

/** How long a browser may ask its user. */
export const CHALLENGE_MS = 5 * 60_000;
const CHALLENGE_BYTES = 32;
/** Unanswered ones for sign-ins from one client address, so that nobody fills the store: each costs its asker nothing. */
export const MAX_OPEN = 200;
const TRY_AGAIN_SECONDS = 60;

/** What a challenge is for, and which browser may answer it: the hash of its session's token, or of a sign-in's. */
export type ChallengeUse = Pick<PasskeyChallengeDocument, "purpose" | "bound_to">;

export interface PasskeyChallenges {
  /** 256 new random bits. */
  issue(use: ChallengeUse): Promise<Buffer>;
  /** The same for who is not known yet. Errors: rate_limited. */
  issueTo(clientAddress: string, use: ChallengeUse): Promise<Buffer>;
  /** Uses a challenge up, whatever then becomes of the answer; false where it is not of that use, used, or too old. */
  take(challenge: string, use: ChallengeUse): Promise<boolean>;
}

/** Challenges that browsers answer by a passkey. Each counts once. */
export function createPasskeyChallenges(options: { store: AccountStore; now: () => Date }): PasskeyChallenges {
  const { store, now } = options;

  async function issue(use: ChallengeUse & { client_group?: string }): Promise<Buffer> {
    const challenge = randomBytes(CHALLENGE_BYTES);
    const expires_at = new Date(now().getTime() + CHALLENGE_MS);
    await store.passkeyChallenges.insertOne({ _id: hashOf(challenge.toString("base64url")), ...use, expires_at });
    return challenge;
  }

  return {
    issue: (use) => issue(use),

    async issueTo(clientAddress, use) {
      const client_group = addressGroup(clientAddress);
      const open = { client_group, expires_at: { $gt: now() } };
      if ((await store.passkeyChallenges.countDocuments(open, { limit: MAX_OPEN })) >= MAX_OPEN) {
        const message = "Too many sign-ins were begun from this address; try again later.";
        throw new ServiceError("rate_limited", { message, retryAfterSeconds: TRY_AGAIN_SECONDS });
      }
      return issue({ ...use, client_group });
    },

    async take(challenge, use) {
      const taken = await store.passkeyChallenges.findOneAndDelete({ _id: hashOf(challenge), ...use });
      return taken !== null && taken.expires_at > now();
    },
  };
}

function hashOf(challenge: string): string {
  return createHash("sha256").update(challenge, "utf8").digest("hex");
}
