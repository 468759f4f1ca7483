import { ServiceError } from "@vvs/errors";
import type { AttemptWindows } from "./attempt-windows.ts";
import { addressGroup, addressHash } from "./sign-in-limits.ts";

const HOUR_MS = 60 * 60_000;
/** Mails that strangers may have sent to one address, and from one client address, within an hour. */
export const MAX_MAILS = { account: 5, address: 30 } as const;

export interface MailLimits {
  /**
   * Counts a mail that somebody without a session asks for, whether or not one is sent. What was sent before still holds,
   * so nobody can keep an owner from their account by using the limit up. Errors: rate_limited.
   */
  count(email: string, clientAddress: string): Promise<void>;
}

export function createMailLimits(options: { windows: AttemptWindows; now: () => Date }): MailLimits {
  const { windows, now } = options;
  return {
    async count(email, clientAddress) {
      const [ofAccount, ofAddress] = await Promise.all([
        windows.take(`mail:account:${addressHash(email)}`, { attempts: MAX_MAILS.account, windowMs: HOUR_MS }),
        windows.take(`mail:address:${addressGroup(clientAddress)}`, { attempts: MAX_MAILS.address, windowMs: HOUR_MS }),
      ]);
      const latest = Math.max(ofAccount?.getTime() ?? 0, ofAddress?.getTime() ?? 0);
      if (latest === 0) return;
      throw new ServiceError("rate_limited", {
        message: "Several mails were asked for already. Look for them, in the folder for junk too, or try again later.",
        retryAfterSeconds: Math.max(1, Math.ceil((latest - now().getTime()) / 1000)),
      });
    },
  };
}
