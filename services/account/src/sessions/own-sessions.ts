import { inTransaction } from "@vvs/mongo";
import type { Filter } from "mongodb";
import type { Actor } from "../audit/audit.ts";
import type { Basics } from "../parts.ts";
import type { SessionDocument } from "../store.ts";
import { type LiveSessions, requireSession } from "./live-sessions.ts";
import { isSessionAlive, type SessionPlace } from "./sessions.ts";

/** A signed-in user who manages their own account. */
export interface SessionCaller extends SessionPlace {
  readonly token: string;
  readonly requestId?: string;
}

const MAX_LISTED = 100;

/** The sessions that signed-in users list and end. All methods throw unauthorized if the caller's session has ended. */
export function createOwnSessions(options: Basics & { liveSessions: LiveSessions }) {
  const { client, store, liveSessions, audit, now } = options;
  async function end(caller: SessionCaller, which: (current: SessionDocument) => Filter<SessionDocument>) {
    const { session: current } = await liveSessions.find(caller.token);
    const { user_id: userId, organization_id: organizationId } = current;
    return inTransaction(client, async (session) => {
      await requireSession(store, current, session);
      const filter = { ...which(current), user_id: userId };
      const { deletedCount } = await store.sessions.deleteMany(filter, { session });
      if (deletedCount === 0) return 0;
      const details = { sessions: deletedCount };
      const entry = { action: "user.sessions_ended", organizationId, target: userId, details } as const;
      await audit.append(session, actorOf(caller, userId), entry);
      return deletedCount;
    });
  }

  return {
    /** Returns the user's sessions that have not ended, most recently used first. */
    async list(caller: SessionCaller): Promise<OwnSession[]> {
      const { session: current } = await liveSessions.find(caller.token);
      const at = now();
      const found = await store.sessions
        .find({ user_id: current.user_id })
        .sort({ last_seen_at: -1, _id: 1 })
        .limit(MAX_LISTED)
        .toArray();
      return found
        .filter((session) => isSessionAlive(session, at))
        .map((session) => ownSession(session, session._id === current._id));
    },

    /** Ends one of the user's sessions, if it exists. */
    async end(caller: SessionCaller, id: string): Promise<void> {
      await end(caller, () => ({ _id: id }));
    },

    /** Ends all of the user's sessions except the caller's; returns how many. */
    endOthers: (caller: SessionCaller) => end(caller, (current) => ({ _id: { $ne: current._id } })),
  };
}

/** Returns the user of a session, for the audit log. */
export function actorOf(caller: SessionCaller, userId: string): Actor {
  return { actor: userId, clientAddress: caller.clientAddress, requestId: caller.requestId };
}

/** A session as its user sees it. The id is the hash of its token, and can't be used to sign in. */
export type OwnSession = ReturnType<typeof ownSession>;

function ownSession(session: SessionDocument, isCurrent: boolean) {
  return {
    id: session._id,
    beganAt: session.created_at,
    lastUsedAt: session.last_seen_at,
    clientAddress: session.client_address,
    userAgent: session.user_agent,
    isCurrent,
  };
}
