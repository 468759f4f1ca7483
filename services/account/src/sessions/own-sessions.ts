import { inTransaction } from "@vvs/mongo";
import type { Filter, MongoClient } from "mongodb";
import type { Actor, AuditLog } from "../audit/audit.ts";
import type { AccountStore, SessionDocument } from "../store.ts";
import type { LiveSessions } from "./live-sessions.ts";
import { isSessionAlive, type SessionPlace } from "./sessions.ts";

/** A signed-in user who acts on their own account. */
export interface SessionCaller extends SessionPlace {
  readonly token: string;
  readonly requestId?: string;
}

/** A session as its user sees it. */
export interface OwnSession {
  /** The hash of its token: names it, and is no means to use it. */
  readonly id: string;
  readonly beganAt: Date;
  readonly lastUsedAt: Date;
  readonly clientAddress?: string;
  readonly userAgent?: string;
  readonly isCurrent: boolean;
}

export interface OwnSessions {
  /** The user's sessions that live, the last used first. Errors: unauthorized. */
  list(caller: SessionCaller): Promise<OwnSession[]>;
  /** Ends one of the user's sessions; nothing where they have none of that id. Errors: unauthorized. */
  end(caller: SessionCaller, id: string): Promise<void>;
  /** Ends all of the user's sessions but the caller's; returns how many. Errors: unauthorized. */
  endOthers(caller: SessionCaller): Promise<number>;
}

/** More than anybody looks through. */
const MAX_LISTED = 100;

export function createOwnSessions(options: {
  client: MongoClient;
  store: AccountStore;
  liveSessions: LiveSessions;
  audit: AuditLog;
  now: () => Date;
}): OwnSessions {
  const { client, store, liveSessions, audit, now } = options;

  async function end(caller: SessionCaller, which: (current: SessionDocument) => Filter<SessionDocument>) {
    const { session: current } = await liveSessions.find(caller.token);
    const { user_id: userId, organization_id: organizationId } = current;
    return inTransaction(client, async (session) => {
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
    async list(caller) {
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

    async end(caller, id) {
      await end(caller, () => ({ _id: id }));
    },

    endOthers: (caller) => end(caller, (current) => ({ _id: { $ne: current._id } })),
  };
}

/** The user of a session, for the audit log. */
export function actorOf(caller: SessionCaller, userId: string): Actor {
  return { actor: userId, clientAddress: caller.clientAddress, requestId: caller.requestId };
}

function ownSession(session: SessionDocument, isCurrent: boolean): OwnSession {
  return {
    id: session._id,
    beganAt: session.created_at,
    lastUsedAt: session.last_seen_at,
    clientAddress: session.client_address,
    userAgent: session.user_agent,
    isCurrent,
  };
}
