import { ServiceError } from "@vvs/errors";
import type { Caller as CallerMessage } from "@vvs/proto/common/v1/common";
import { type CallerContext, callerOf } from "@vvs/tenant";
import type { SessionDocument } from "../store.ts";
import type { LiveSessions, SignedIn } from "./live-sessions.ts";

/** How old a confirmation may be. A minute more than for the dashboard, which asks for a new one, by its own clock. */
const CONFIRMED_MS = 16 * 60_000;

/** On whose behalf a call is made. */
export interface Caller extends CallerContext {
  /** The session by which a user was identified; absent for others, such as the operator. */
  readonly session?: SessionDocument;
}

/** A request on behalf of a user, with the token of their session. */
interface Request {
  readonly caller?: CallerMessage | undefined;
  readonly sessionToken: string;
}

/**
 * Identifies the users on whose behalf the dashboard calls, by their sessions: the ids in a request are not believed. The
 * session is required again in the transaction of a change, as is the role (`requireSecretManager`, `ownerOf`).
 */
export function createCallersBySession({ liveSessions, now }: { liveSessions: LiveSessions; now: () => Date }) {
  async function identified({ caller: message, sessionToken }: Request) {
    const named = callerOf(message);
    if (!sessionToken) throw refused("This needs the session of a user. Reload the page, and try again.");
    const { session, signedIn } = await liveSessions.find(sessionToken);
    const isTheirs = named.actor === signedIn.userId && named.tenant.organizationId === signedIn.organizationId;
    if (!isTheirs) throw refused("The session is not that of the user who is named.");
    return { caller: { ...named, session } satisfies Caller, signedIn };
  }

  return {
    /** Errors: unauthorized (the session has ended), forbidden (there is none, or it is another user's). */
    signedIn: async (request: Request): Promise<Caller> => (await identified(request)).caller,

    /** Errors: also forbidden if the user has not confirmed their identity within the last minutes. */
    async confirmed(request: Request): Promise<Caller> {
      const { caller, signedIn } = await identified(request);
      requireConfirmed(signedIn, now());
      return caller;
    },
  };
}

/** Requires that a user confirmed their identity within the last minutes. Errors: forbidden. */
export function requireConfirmed({ authenticatedAt }: Pick<SignedIn, "authenticatedAt">, now: Date): void {
  if (now.getTime() - authenticatedAt.getTime() < CONFIRMED_MS) return;
  throw refused("Confirm your identity again, and then repeat this.");
}

function refused(message: string): ServiceError {
  return new ServiceError("forbidden", { message });
}
