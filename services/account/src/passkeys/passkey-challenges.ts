import { randomBytes } from "node:crypto";
import { ServiceError } from "@vvs/errors";
import { addressGroup } from "../sessions/attempt-limits.ts";
import { sessionId } from "../sessions/sessions.ts";
import type { AccountStore, PasskeyChallengeDocument } from "../store.ts";

/** How long a browser may take to answer. */
export const CHALLENGE_MS = 5 * 60_000;
const CHALLENGE_BYTES = 32;
/** Maximum unanswered sign-ins per client address: they cost a stranger nothing, but must not fill the store. */
export const MAX_OPEN = 200;
const TRY_AGAIN_SECONDS = 60;

/** The purpose of a challenge, and which browser may answer it: the hash of the token of its session or sign-in. */
export type ChallengeUse = Pick<PasskeyChallengeDocument, "purpose" | "bound_to">;

export type PasskeyChallenges = ReturnType<typeof createPasskeyChallenges>;

/** Challenges that browsers answer with a passkey, each once. */
export function createPasskeyChallenges({ store, now }: { store: AccountStore; now: () => Date }) {
  /** Returns a challenge of 256 new random bits. */
  async function issue(use: ChallengeUse & { client_group?: string }): Promise<Buffer> {
    const challenge = randomBytes(CHALLENGE_BYTES);
    const expires_at = new Date(now().getTime() + CHALLENGE_MS);
    await store.passkeyChallenges.insertOne({ _id: sessionId(challenge.toString("base64url")), ...use, expires_at });
    return challenge;
  }

  return {
    issue,

    /** Returns a challenge for a browser whose user is not known yet. Errors: rate_limited. */
    async issueTo(clientAddress: string, use: ChallengeUse): Promise<Buffer> {
      const client_group = addressGroup(clientAddress);
      const open = { client_group, expires_at: { $gt: now() } };
      if ((await store.passkeyChallenges.countDocuments(open, { limit: MAX_OPEN })) >= MAX_OPEN) {
        const message = "Too many sign-ins were begun from this address; try again later.";
        throw new ServiceError("rate_limited", { message, retryAfterSeconds: TRY_AGAIN_SECONDS });
      }
      return issue({ ...use, client_group });
    },

    /** Uses up a challenge, even if the answer turns out to be wrong. Returns false if it is unknown, used or expired. */
    async take(challenge: string, use: ChallengeUse): Promise<boolean> {
      const taken = await store.passkeyChallenges.findOneAndDelete({ _id: sessionId(challenge), ...use });
      return taken !== null && taken.expires_at > now();
    },
  };
}
