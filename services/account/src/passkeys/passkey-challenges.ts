import { randomBytes } from "node:crypto";
import type { SignInLimits } from "../sessions/attempt-limits.ts";
import { sessionId } from "../sessions/sessions.ts";
import type { AccountStore, PasskeyChallengeDocument } from "../store.ts";

/** How long a browser may take to answer. */
export const CHALLENGE_MS = 5 * 60_000;
const CHALLENGE_BYTES = 32;

/** The purpose of a challenge, and which browser may answer it: the hash of the token of its session or sign-in. */
export type ChallengeUse = Pick<PasskeyChallengeDocument, "purpose" | "bound_to">;

export type PasskeyChallenges = ReturnType<typeof createPasskeyChallenges>;

/** Challenges that browsers answer with a passkey, each once. */
export function createPasskeyChallenges({
  store,
  limits,
  now,
}: {
  store: AccountStore;
  limits: Pick<SignInLimits, "countBegun" | "countChallenge">;
  now: () => Date;
}) {
  /** Returns a challenge of 256 new random bits. */
  async function insert(use: ChallengeUse): Promise<Buffer> {
    const challenge = randomBytes(CHALLENGE_BYTES);
    const expires_at = new Date(now().getTime() + CHALLENGE_MS);
    await store.passkeyChallenges.insertOne({ _id: sessionId(challenge.toString("base64url")), ...use, expires_at });
    return challenge;
  }

  return {
    /** Returns a challenge for the user of a session. Errors: rate_limited. */
    async issue(use: ChallengeUse): Promise<Buffer> {
      await limits.countChallenge(use.bound_to);
      return insert(use);
    },

    /** Returns a challenge for a browser whose user is not known yet. Errors: rate_limited. */
    async issueTo(clientAddress: string, use: ChallengeUse): Promise<Buffer> {
      await limits.countBegun(clientAddress);
      return insert(use);
    },

    /** Uses up a challenge, even if the answer turns out to be wrong. Returns false if it is unknown, used or expired. */
    async take(challenge: string, use: ChallengeUse): Promise<boolean> {
      const taken = await store.passkeyChallenges.findOneAndDelete({ _id: sessionId(challenge), ...use });
      return taken !== null && taken.expires_at > now();
    },
  };
}
