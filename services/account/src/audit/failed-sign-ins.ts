import { createHash } from "node:crypto";
import { withoutDeadline } from "@vvs/deadline";
import { ObjectId } from "mongodb";
import type { AccountStore, UserDocument } from "../store.ts";
import type { AuditAction } from "./audit.ts";

const HOUR_MS = 60 * 60_000;
const ID_BYTES = 12;

/** What was wrong: a field of the entry's details, with the number of such attempts. */
export type SignInFailure = "wrong_passwords" | "wrong_codes";

export type FailedSignIns = ReturnType<typeof createFailedSignIns>;

/**
 * Counts failed sign-ins in the audit log of the user's organization: one entry per user and hour, which is the only kind
 * of entry that changes. Attempts that a limit refused are not counted, so a user has at most one write per allowed one.
 */
export function createFailedSignIns({ store, now }: { store: AccountStore; now: () => Date }) {
  async function write(user: UserDocument, failure: SignInFailure, clientAddress: string): Promise<void> {
    const at = now();
    const action: AuditAction = "user.sign_in_failed";
    const first = { organization_id: user.organization_id, actor: "anonymous", action, target: user._id, at };
    const last = { "details.last_at": at.toISOString(), "details.last_address": clientAddress };
    await store.auditLog.updateOne(
      { _id: entryId(user._id, at) },
      { $setOnInsert: first, $set: last, $inc: { [`details.${failure}`]: 1 } },
      { upsert: true },
    );
  }

  return {
    /**
     * Counts one, in the background: a caller who waited for the write would learn that the account exists. If it fails,
     * the number is too low.
     */
    count(user: UserDocument, failure: SignInFailure, clientAddress: string): void {
      void withoutDeadline(() => write(user, failure, clientAddress)).catch(() => undefined);
    },
  };
}

/** The same for every replica, so that the id's uniqueness keeps one entry per user and hour. */
function entryId(userId: string, at: Date): ObjectId {
  const hour = Math.floor(at.getTime() / HOUR_MS);
  const hash = createHash("sha256").update(`failed sign-ins ${userId} ${hour}`, "utf8").digest();
  return new ObjectId(hash.subarray(0, ID_BYTES));
}
