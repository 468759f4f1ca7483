import { createHash } from "node:crypto";
import { ServiceError } from "@vvs/errors";
import { giveBack, take, windowFromFirst } from "@vvs/mongo";
import type { AccountStore } from "../store.ts";
import { addressGroup, networkGroup } from "./address-groups.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/**
 * Maximum failed sign-ins in a window: of one account, of one device that signed the user in before, of one session, of
 * one client address, of its network, and of all strangers together.
 */
export const MAX_FAILURES = { account: 10, device: 10, session: 10, address: 50, network: 200, total: 10_000 } as const;
export const WINDOW_MS = 15 * MINUTE_MS;
/** Maximum emails in an hour that people without a session can request; of each kind to one address. */
export const MAX_MAILS = { account: 5, device: 5, address: 30, network: 100, total: 2_000 } as const;
/** Maximum invitations in an hour: of one organization, of one organization to one address, and of all to one address. */
export const MAX_INVITATIONS = { organization: 100, account: 5, accountOfAll: 20 } as const;
/** Maximum sign-ins of one user in an hour that succeed, however they sign in: each stores a session. */
export const MAX_SESSIONS = 200;
/** Maximum attempts in an hour to use the link of one email. */
export const MAX_LINK_USES = 20;

const TOO_MANY_SIGN_INS = "Too many failed sign-ins. Try again later.";

type AttemptLimits = ReturnType<typeof createAttemptLimits>;
export type SignInLimits = AttemptLimits["signIns"];
export type MailLimits = AttemptLimits["mails"];

/** Who attempts something. */
export interface Attempt {
  /** Normalized. */
  readonly email: string;
  readonly clientAddress: string;
  /** The id of a device that signed this user in before. Strangers can't use up its limit. */
  readonly device?: string | undefined;
}

interface Bucket {
  readonly id: string;
  readonly max: number;
}

/** Limits attempts in windows of time, which begin with their first attempt. All replicas count together. */
export function createAttemptLimits({ store, now }: { store: AccountStore; now: () => Date }) {
  function refuse(message: string, endsAt: Date): never {
    const retryAfterSeconds = Math.max(1, Math.ceil((endsAt.getTime() - now().getTime()) / 1000));
    throw new ServiceError("rate_limited", { message, retryAfterSeconds });
  }

  /** Refuses without a write what is certain to be refused, so that strangers can't make us write without end. */
  async function refuseFull(buckets: readonly Bucket[], message: string): Promise<void> {
    const found = await store.signInLimits
      .find({ _id: { $in: buckets.map(({ id }) => id) }, window_ends_at: { $gt: now() } })
      .toArray();
    for (const { id, max } of buckets) {
      const full = found.find(({ _id, attempts }) => _id === id && attempts >= max);
      if (full) refuse(message, full.window_ends_at);
    }
  }

  /**
   * Counts an attempt in each bucket, in order; the first full one ends it. So a bucket that strangers choose, such as
   * that of an email address, is only written for an attempt that its sender's own buckets allow.
   */
  async function takeAll(buckets: readonly Bucket[], windowMs: number, message: string): Promise<void> {
    await refuseFull(buckets, message);
    for (const { id, max } of buckets) {
      const window = { number: "attempts", ...windowFromFirst("window_ends_at", now(), windowMs) };
      const counted = await take(store.signInLimits, id, { wanted: 1, raise: { attempts: max }, window });
      if (counted.granted === 0) refuse(message, counted.window_ends_at);
    }
  }

  const forget = async (id: string) => void (await store.signInLimits.deleteOne({ _id: id }));

  return {
    signIns: {
      /**
       * Counts a sign-in before it is checked, so that concurrent ones can't pass together.
       * Errors: rate_limited, whether or not there is such an account.
       */
      count: (attempt: Attempt) => takeAll(signInBuckets(attempt), WINDOW_MS, TOO_MANY_SIGN_INS),

      /** Refuses, without counting it, a sign-in that `count` would refuse now. Errors: rate_limited. */
      refuseFull: (attempt: Attempt) => refuseFull(signInBuckets(attempt), TOO_MANY_SIGN_INS),

      /**
       * Uncounts a sign-in that succeeded. A device that signed the user in before also gets all of its attempts back; of
       * an account, what others guessed stays counted, or they could guess on after each sign-in of its user.
       */
      async forgive(attempt: Attempt): Promise<void> {
        const ids = signInBuckets(attempt).map(({ id }) => id);
        if (attempt.device) await forget(ids[0]!);
        else await giveBack(store.signInLimits, ids, "attempts");
      },

      /** Forgets the failures of an account, so that a user with a new password need not wait. */
      forgiveAccount: (email: string) => forget(accountId(email)),

      /** Counts an attempt to confirm the identity of a session's user. Errors: rate_limited. */
      countConfirmation: (sessionId: string) =>
        takeAll(
          [{ id: `session:${sessionId}`, max: MAX_FAILURES.session }],
          WINDOW_MS,
          "Too many wrong passwords. Try again later, or sign out and in again.",
        ),

      /** Forgets the wrong confirmations of a session after a right one. */
      forgiveConfirmation: (sessionId: string) => forget(`session:${sessionId}`),

      /** Counts a session that is about to begin. Errors: rate_limited. */
      countSession: (userId: string) =>
        takeAll(
          [{ id: `sessions:${userId}`, max: MAX_SESSIONS }],
          HOUR_MS,
          "You signed in too often. Try again later.",
        ),

      /** Counts an attempt to use the link of an email that exists. Errors: rate_limited. */
      countLinkUse: (linkId: string) =>
        takeAll(
          [{ id: `link:${linkId}`, max: MAX_LINK_USES }],
          HOUR_MS,
          "This link was tried too often. Try again later.",
        ),
    },

    mails: {
      /**
       * Counts an email requested without a session, whether or not one is sent. Links in earlier emails of the kind keep
       * working, so using up the limit of an address locks no owner out of their account. Errors: rate_limited.
       */
      count: (kind: "reset" | "sign_up", { email, clientAddress, device }: Attempt) =>
        takeAll(
          device
            ? [{ id: `mail:device:${device}`, max: MAX_MAILS.device }]
            : [
                ...strangerBuckets("mail:", clientAddress, MAX_MAILS),
                { id: `mail:${kind}:${accountId(email)}`, max: MAX_MAILS.account },
              ],
          HOUR_MS,
          "Several emails were requested already. Check your inbox and the junk folder, or try again later.",
        ),

      /** Counts an invitation of an organization to an address. Errors: rate_limited. */
      countInvitation: (organizationId: string, email: string) =>
        takeAll(
          [
            { id: `invitations:${organizationId}`, max: MAX_INVITATIONS.organization },
            { id: `invitation:${organizationId}:${accountId(email)}`, max: MAX_INVITATIONS.account },
            { id: `invitation:${accountId(email)}`, max: MAX_INVITATIONS.accountOfAll },
          ],
          HOUR_MS,
          "Several invitations were sent already. Try again later.",
        ),
    },
  };
}

function signInBuckets({ email, clientAddress, device }: Attempt): readonly Bucket[] {
  if (device) return [{ id: `device:${device}`, max: MAX_FAILURES.device }];
  const account = { id: accountId(email), max: MAX_FAILURES.account };
  return [...strangerBuckets("", clientAddress, MAX_FAILURES), account];
}

/** From the narrowest to the widest: attempts that the limit of one address refuses must not use up that of everybody. */
function strangerBuckets(
  prefix: string,
  clientAddress: string,
  max: Readonly<Record<"address" | "network" | "total", number>>,
): readonly Bucket[] {
  return [
    { id: `${prefix}address:${addressGroup(clientAddress)}`, max: max.address },
    { id: `${prefix}network:${networkGroup(clientAddress)}`, max: max.network },
    { id: `${prefix}total`, max: max.total },
  ];
}

/** Hashed, because people type their password into the wrong field, and strangers choose the length. */
function accountId(email: string): string {
  return `account:${createHash("sha256").update(email, "utf8").digest("hex")}`;
}
