import type { AccountStore, SignUpDocument } from "../store.ts";

/** Returns the newest sign-up of an address that can still be confirmed. */
export async function newestSignUp(store: AccountStore, email: string, now: Date): Promise<SignUpDocument | null> {
  return store.signUps.findOne({ email, expires_at: { $gt: now } }, { sort: { created_at: -1 } });
}
