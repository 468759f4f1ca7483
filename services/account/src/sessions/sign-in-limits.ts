import { createHash } from "node:crypto";
import { isIPv6 } from "node:net";
import { ServiceError } from "@vvs/errors";
import type { AttemptWindows } from "./attempt-windows.ts";

/** Failed sign-ins that one account or one client address may have within a window that begins with the first. */
export const MAX_FAILURES = { account: 10, address: 50 } as const;
export const WINDOW_MS = 15 * 60_000;

type Kind = keyof typeof MAX_FAILURES;

export interface SignInLimits {
  /**
   * Counts an attempt before it is judged, so that attempts at once can't pass together.
   * Errors: rate_limited, whether or not there is such an account.
   */
  count(email: string, clientAddress: string): Promise<void>;
  /** The attempt succeeded: it does not count, and the account's failures are forgotten. */
  forgive(email: string, clientAddress: string): Promise<void>;
  /** The account's failures are forgotten: who replaced a password need not wait. */
  forgiveAccount(email: string): Promise<void>;
}

export function createSignInLimits(options: { windows: AttemptWindows; now: () => Date }): SignInLimits {
  const { windows, now } = options;
  const take = (kind: Kind, id: string) => windows.take(id, { attempts: MAX_FAILURES[kind], windowMs: WINDOW_MS });

  return {
    async count(email, clientAddress) {
      const ends = await Promise.all([take("account", accountId(email)), take("address", addressId(clientAddress))]);
      const latest = Math.max(...ends.map((end) => end?.getTime() ?? 0));
      if (latest === 0) return;
      throw new ServiceError("rate_limited", {
        message: "Too many failed sign-ins. Try again later.",
        retryAfterSeconds: Math.max(1, Math.ceil((latest - now().getTime()) / 1000)),
      });
    },

    async forgive(email, clientAddress) {
      await Promise.all([windows.forget(accountId(email)), windows.giveBack(addressId(clientAddress))]);
    },

    forgiveAccount: (email) => windows.forget(accountId(email)),
  };
}

function accountId(email: string): string {
  return `account:${addressHash(email)}`;
}

/** An e-mail address as limits know it: people type their password into the wrong field, and a stranger chooses its length. */
export function addressHash(email: string): string {
  return createHash("sha256").update(email, "utf8").digest("hex");
}

function addressId(clientAddress: string): string {
  return `address:${addressGroup(clientAddress)}`;
}

/** What counts as one address: an IPv4 address, or the /64 that a subscriber of IPv6 has all of. */
export function addressGroup(address: string): string {
  const text = address.split("%")[0]!.toLowerCase();
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  if (mapped) return mapped[1]!;
  if (!isIPv6(text)) return text.slice(0, 64);
  // The URL parser writes every IPv6 address in its one canonical form.
  const [head = "", tail] = new URL(`http://[${text}]`).hostname.slice(1, -1).split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail ? tail.split(":") : [];
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length;
  const groups = [...before, ...Array<string>(zeros).fill("0"), ...after];
  return `${groups.slice(0, 4).join(":")}::/64`;
}
