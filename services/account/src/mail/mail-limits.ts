import { ServiceError } from "@vvs/errors";
import type { AttemptWindows } from "../sessions/attempt-windows.ts";
import { addressGroup, addressHash } from "../sessions/sign-in-limits.ts";

const HOUR_MS = 60 * 60_000;
/** Maximum number of emails per hour that people without a session can request: to one email address, and from one client address. */
export const MAX_MAILS = { account: 5, address: 30 } as const;

export interface MailLimits {
  /**
   * Counts an email requested without a session, whether or not one is sent. Links in earlier emails keep working, so
   * using up the limit locks no owner out of their account. Errors: rate_limited.
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
        message: "Several emails were requested already. Check your inbox and the junk folder, or try again later.",
        retryAfterSeconds: Math.max(1, Math.ceil((latest - now().getTime()) / 1000)),
      });
    },
  };
}
