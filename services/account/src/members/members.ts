import { ServiceError } from "@vvs/errors";
import { inTransaction } from "@vvs/mongo";
import type { ClientSession } from "mongodb";
import { checkedRole } from "../model/roles.ts";
import type { Basics } from "../parts.ts";
import { missing } from "../refusals.ts";
import type { Caller } from "../sessions/callers-by-session.ts";
import type { UserDocument } from "../store.ts";
import { changeRole, deleteMember, isLastOwner, lockMembers, memberOf, ownerOf } from "./membership.ts";

/** A member as other members see them. */
export interface Member {
  readonly user: UserDocument;
  /** Whether signing in requires a second factor; undefined unless the caller is an owner. */
  readonly hasSecondFactor?: boolean;
  /** Undefined if they never signed in, and unless the caller is an owner. */
  readonly lastSeenAt?: Date;
}

const MAX_LISTED = 1_000;

export function createMembers(options: Basics) {
  const { client, store } = options;

  /** Returns a member of the caller's organization, whose members no other transaction changes now. Errors: not_found. */
  async function locked(caller: Caller, userId: string, session: ClientSession): Promise<UserDocument> {
    const { organizationId } = caller.tenant;
    await lockMembers(store, organizationId, session);
    const found = await store.users.findOne({ _id: userId, organization_id: organizationId }, { session });
    if (!found) throw missing("member");
    return found;
  }

  /** Errors: invalid_request if nobody else could manage the organization. */
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
    /** Returns the members in the order in which they joined, for owners with how they sign in. Errors: forbidden. */
    async list(caller: Caller): Promise<Member[]> {
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
        // A session is deleted when it ends; the time of its sign-in is kept.
        lastSeenAt: latest(seen.get(user._id), user.last_signed_in_at),
      }));
    },

    /**
     * Gives a member another role, effective from their next request. Repeatable. The caller must be an owner.
     * Errors: forbidden, not_found, invalid_request (role; the last owner).
     */
    async setRole(caller: Caller, input: { userId: string; role: string }): Promise<Member> {
      const role = checkedRole(input.role);
      return inTransaction(client, async (session) => {
        const before = await locked(caller, input.userId, session);
        await ownerOf(store, caller, session);
        if (before.role === role) return { user: before };
        await refuseLastOwner(before, session);
        await changeRole(options, caller, before, role, session);
        return { user: { ...before, role } };
      });
    },

    /**
     * Removes a member and ends their sessions. The caller must be an owner, or the member themselves.
     * Errors: forbidden, not_found, invalid_request (the last owner).
     */
    async remove(caller: Caller, userId: string): Promise<void> {
      const isOwn = userId === caller.actor;
      await inTransaction(client, async (session) => {
        await (isOwn ? memberOf : ownerOf)(store, caller, session);
        const user = await locked(caller, userId, session);
        await refuseLastOwner(user, session);
        await deleteMember(options, caller, user, isOwn ? "member.left" : "member.removed", session);
      });
    },
  };
}

function latest(...times: (Date | undefined)[]): Date | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : new Date(Math.max(...known.map((time) => time.getTime())));
}
