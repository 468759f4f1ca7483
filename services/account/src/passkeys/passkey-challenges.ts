import { isDuplicateKey } from "@vvs/mongo";
import { sessionId } from "../sessions/sessions.ts";
import type { Tickets } from "../sessions/tickets.ts";
import type { AccountStore } from "../store.ts";

/** How long a browser may take to answer. */
export const CHALLENGE_MS = 5 * 60_000;

/** The purpose of a challenge, and which browser may answer it: the hash of the token of its session or sign-in. */
export interface ChallengeUse {
  readonly purpose: "register" | "sign_in" | "reauthenticate";
  readonly bound_to: string;
}

export type PasskeyChallenges = ReturnType<typeof createPasskeyChallenges>;

/** Challenges that browsers answer with a passkey, each once. Only answered ones are stored. */
export function createPasskeyChallenges({
  store,
  tickets,
  now,
}: {
  store: AccountStore;
  tickets: Tickets;
  now: () => Date;
}) {
  return {
    /** Returns a new challenge. */
    issue: ({ purpose, bound_to }: ChallengeUse): Buffer =>
      tickets.issue(`passkey ${purpose}`, bound_to, new Date(now().getTime() + CHALLENGE_MS), ""),

    /** Returns whether a challenge is one of ours for this use, and has not expired. */
    isOpen: (challenge: string, { purpose, bound_to }: ChallengeUse): boolean =>
      tickets.read(Buffer.from(challenge, "base64url"), `passkey ${purpose}`, bound_to) !== undefined,

    /** Uses up an open challenge that was answered rightly. Returns false if it was used before. */
    async take(challenge: string): Promise<boolean> {
      const _id = sessionId(Buffer.from(challenge, "base64url").toString("base64url"));
      // Kept until every replica refuses the challenge as too old.
      const expires_at = new Date(now().getTime() + CHALLENGE_MS);
      try {
        await store.passkeyChallenges.insertOne({ _id, expires_at });
        return true;
      } catch (error) {
        if (isDuplicateKey(error)) return false;
        throw error;
      }
    },
  };
}
