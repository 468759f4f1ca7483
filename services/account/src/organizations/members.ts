import { ServiceError } from "@vvs/errors";
import { inTransaction } from "@vvs/mongo";
import type { CallerContext } from "@vvs/tenant";
import type { ClientSession, MongoClient } from "mongodb";
import type { AuditLog } from "../audit/audit.ts";
import type { AccountStore, UserDocument } from "../store.ts";
import { deleteMember, endInvitations, isLastOwner, lockMembers, memberOf, ownerOf } from "./membership.ts";
import { noteRemoval } from "./removed-members.ts";
import { checkedRole } from "./roles.ts";

/** A member as members see each other. */
export interface Member {
  readonly user: UserDocument;
  /** Do their sign-ins ask for a second factor? Undefined where the asker may not know. */
  readonly hasSecondFactor?: boolean;
  /** Undefined where the asker may not know, and where they never were. */
  readonly lastSeenAt?: Date;
}

export interface Members {
  /** Those who joined first before others. Owners alone learn how and when others sign in. Errors: forbidden. */
  list(caller: CallerContext): Promise<Member[]>;
  /**
   * Gives a member another role, which counts from their next request on; the same again changes nothing. The caller
   * must be an owner. Errors: forbidden, not_found, invalid_request (role; the last owner stays one).
   */
  setRole(caller: CallerContext, input: { userId: string; role: string }): Promise<Member>;
  /**
   * Takes a member out and ends their sessions. The caller must be an owner, or the member themselves; whom an owner
   * removed the identity provider does not bring back until an owner invites them.
   * Errors: forbidden, not_found, invalid_request (the last owner stays).
   */
  remove(caller: CallerContext, userId: string): Promise<void>;
}

/** More than anybody looks through. */
const MAX_LISTED = 1_000;

export function createMembers(options: {
  client: MongoClient;
  store: AccountStore;
  audit: AuditLog;
  now: () => Date;
}): Members {
  const { client, store, audit, now } = options;

  /** A member of the caller's organization, while nobody else changes who its members are. Errors: not_found. */
  async function locked(caller: CallerContext, userId: string, session: ClientSession): Promise<UserDocument> {
    const { organizationId } = caller.tenant;
    await lockMembers(store, organizationId, session);
    const found = await store.users.findOne({ _id: userId, organization_id: organizationId }, { session });
    if (!found) throw new ServiceError("not_found", { message: "There is no such member." });
    return found;
  }

  /** Errors: invalid_request where nobody else could manage the organization then. */
  async function refuseLastOwner(user: UserDocument, session: ClientSession): Promise<void> {
    if (!(await isLastOwner(store, user, session))) return;
    throw new ServiceError("invalid_request", {
      message: "This is the last owner. Make someone else an owner first.",
      details: [{ path: "user_id", message: "is the last owner" }],
    });
  }

  async function lastSeen(organizationId: string): Promise<ReadonlyMap<string, Date>> {
    const seen = await store.sessions
      .aggregate<{ _id: string; at: Date }>([
        { $match: { organization_id: organizationId } },
        { $group: { _id: "$user_id", at: { $max: "$last_seen_at" } } },
      ])
      .toArray();
    return new Map(seen.map(({ _id, at }) => [_id, at]));
  }

  return {
    async list(caller) {
      const { role } = await memberOf(store, caller);
      const { organizationId } = caller.tenant;
      const [users, seen] = await Promise.all([
        store.users
          .find({ organization_id: organizationId })
          .sort({ created_at: 1, _id: 1 })
          .limit(MAX_LISTED)
          .toArray(),
        role === "owner" ? lastSeen(organizationId) : undefined,
      ]);
      if (!seen) return users.map((user) => ({ user }));
      return users.map((user) => ({
        user,
        hasSecondFactor: user.totp !== undefined,
        // A session is forgotten when it ends; the sign-in that began it is not.
        lastSeenAt: latest(seen.get(user._id), user.last_signed_in_at),
      }));
    },

    async setRole(caller, input) {
      const role = checkedRole(input.role);
      const { organizationId } = caller.tenant;
      return inTransaction(client, async (session) => {
        const before = await locked(caller, input.userId, session);
        await ownerOf(store, caller, session);
        if (before.role === role) return { user: before };
        await refuseLastOwner(before, session);
        await store.users.updateOne({ _id: before._id }, { $set: { role } }, { session });
        await endInvitations(store, before, session);
        const details = { from: before.role, to: role };
        const entry = { action: "member.role_changed", organizationId, target: before._id, details } as const;
        await audit.append(session, caller, entry);
        return { user: { ...before, role } };
      });
    },

    async remove(caller, userId) {
      const { organizationId } = caller.tenant;
      const isOwn = userId === caller.actor;
      await inTransaction(client, async (session) => {
        await (isOwn ? memberOf : ownerOf)(store, caller, session);
        const user = await locked(caller, userId, session);
        await refuseLastOwner(user, session);
        const at = now();
        await deleteMember(store, user, at, session);
        if (!isOwn) await noteRemoval(store, user, at, session);
        const action = isOwn ? "member.left" : "member.removed";
        await audit.append(session, caller, { action, organizationId, target: userId, details: { role: user.role } });
      });
    },
  };
}

function latest(...times: (Date | undefined)[]): Date | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : new Date(Math.max(...known.map((time) => time.getTime())));
}
