import { createHash } from "node:crypto";
import { ServiceError } from "@vvs/errors";
import ipaddr from "ipaddr.js";
import type { AccountStore } from "../store.ts";

/** Maximum failed sign-ins of one account and of one client address in a window. */
export const MAX_FAILURES = { account: 10, address: 50 } as const;
export const WINDOW_MS = 15 * 60_000;
/** Maximum emails in an hour that people without a session can request: to one address, and from one client address. */
export const MAX_MAILS = { account: 5, address: 30 } as const;
const HOUR_MS = 60 * 60_000;

type AttemptLimits = ReturnType<typeof createAttemptLimits>;
export type SignInLimits = AttemptLimits["signIns"];
export type MailLimits = AttemptLimits["mails"];

/** Limits attempts in windows of time, which begin with their first attempt. All replicas count together. */
export function createAttemptLimits({ store, now }: { store: AccountStore; now: () => Date }) {
  /** Counts an attempt. Returns when the window ends if this was one too many, else 0. */
  async function take(id: string, max: number, windowMs: number): Promise<number> {
    const at = now();
    const isOpen = { $gt: ["$window_ends_at", at] };
    const attempts = { $cond: [isOpen, { $add: ["$attempts", 1] }, 1] };
    const window_ends_at = { $cond: [isOpen, "$window_ends_at", new Date(at.getTime() + windowMs)] };
    const counted = await store.signInLimits.findOneAndUpdate({ _id: id }, [{ $set: { attempts, window_ends_at } }], {
      upsert: true,
      returnDocument: "after",
    });
    return counted!.attempts > max ? counted!.window_ends_at.getTime() : 0;
  }

  async function takeAll(message: string, ...windows: Promise<number>[]): Promise<void> {
    const latest = Math.max(...(await Promise.all(windows)));
    if (latest === 0) return;
    const retryAfterSeconds = Math.max(1, Math.ceil((latest - now().getTime()) / 1000));
    throw new ServiceError("rate_limited", { message, retryAfterSeconds });
  }

  const forget = async (id: string) => void (await store.signInLimits.deleteOne({ _id: id }));

  return {
    signIns: {
      /**
       * Counts a sign-in before it is checked, so that concurrent ones can't pass together.
       * Errors: rate_limited, whether or not there is such an account.
       */
      count: (email: string, clientAddress: string) =>
        takeAll(
          "Too many failed sign-ins. Try again later.",
          take(accountId(email), MAX_FAILURES.account, WINDOW_MS),
          take(addressId(clientAddress), MAX_FAILURES.address, WINDOW_MS),
        ),

      /** Uncounts a sign-in that succeeded, and forgets the failures of its account. */
      async forgive(email: string, clientAddress: string): Promise<void> {
        const uncounted = store.signInLimits.updateOne({ _id: addressId(clientAddress) }, { $inc: { attempts: -1 } });
        await Promise.all([forget(accountId(email)), uncounted]);
      },

      /** Forgets the failures of an account, so that a user with a new password need not wait. */
      forgiveAccount: (email: string) => forget(accountId(email)),
    },

    mails: {
      /**
       * Counts an email requested without a session, whether or not one is sent. Links in earlier emails keep working,
       * so using up the limit locks no owner out of their account. Errors: rate_limited.
       */
      count: (email: string, clientAddress: string) =>
        takeAll(
          "Several emails were requested already. Check your inbox and the junk folder, or try again later.",
          take(`mail:${accountId(email)}`, MAX_MAILS.account, HOUR_MS),
          take(`mail:${addressId(clientAddress)}`, MAX_MAILS.address, HOUR_MS),
        ),
    },
  };
}

/** Hashed, because people type their password into the wrong field, and strangers choose the length. */
function accountId(email: string): string {
  return `account:${createHash("sha256").update(email, "utf8").digest("hex")}`;
}

function addressId(clientAddress: string): string {
  return `address:${addressGroup(clientAddress)}`;
}

/** Returns what counts as one address: an IPv4 address, or an IPv6 /64, because one subscriber usually has a whole /64. */
export function addressGroup(text: string): string {
  if (!ipaddr.isValid(text)) return text.slice(0, 64);
  const address = ipaddr.process(text);
  if (!(address instanceof ipaddr.IPv6)) return address.toString();
  const network = address.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(":")}::/64`;
}
