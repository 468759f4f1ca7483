import { withoutDeadline } from "@vvs/deadline";
import type { AccountStore, UserDocument } from "../store.ts";
import { type AuditAction, entryIdOf } from "./audit.ts";

const HOUR_MS = 60 * 60_000;

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
      { _id: entryIdOf(["failed sign-ins", user._id, Math.floor(at.getTime() / HOUR_MS)]) },
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
