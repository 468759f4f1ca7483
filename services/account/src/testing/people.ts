import type { CallerContext } from "@vvs/tenant";
import { operator } from "../audit/audit.ts";
import type { SessionCaller } from "../sessions/own-sessions.ts";
import type { PasskeyDocument, UserDocument } from "../store.ts";
import type { TestAccount } from "./account.ts";
import { type TestAuthenticator, testAuthenticator } from "./authenticator.ts";
import { stepOf, totpCode } from "./totp.ts";

/** Password of everyone whom `newUser` creates. */
export const password = "correct horse battery";

/** Returns what tests do with the users of an account. */
export function people(account: TestAccount) {
  const addresses = new Map<string, string>();
  const addressOf = ({ email }: { email: string }) => addresses.get(email)!;

  return {
    /** Creates a user, who joins a moment after those before: an owner of a new organization unless said otherwise. */
    async newUser(role = "owner", organizationId?: string): Promise<UserDocument> {
      account.advance(1);
      const number = addresses.size + 1;
      const email = `user${number}@example.com`;
      addresses.set(email, `203.0.${number >> 8}.${number & 255}`);
      const user = { organizationId: organizationId ?? (await account.organization())._id, email, password, role };
      return account.domain.users.create(operator, user);
    },

    /** Returns the address from which a user signs in. */
    addressOf,

    /** Signs a user in, and returns them as the caller of what users do with their own account. */
    async signIn(
      user: { email: string },
      { password: given = password, userAgent = "Laptop/1" } = {},
    ): Promise<SessionCaller> {
      const place = { clientAddress: addressOf(user), userAgent };
      const { token } = await account.domain.signIns.signIn({ email: user.email, password: given, ...place });
      return { token, ...place, requestId: "req_1" };
    },

    /** Returns the code that an authenticator app shows now. */
    codeOf: (secret: string) => totpCode(secret, stepOf(account.clock.now)),

    /** Turns an authenticator app on. Its code of now is used up thereby. */
    async turnOnApp(caller: SessionCaller): Promise<{ secret: string; recoveryCodes: string[] }> {
      const { secret } = await account.domain.secondFactor.beginTotp(caller);
      const code = totpCode(secret, stepOf(account.clock.now));
      return { secret, recoveryCodes: await account.domain.secondFactor.enableTotp(caller, code) };
    },

    /** Adds a passkey, of a new device where none is given. */
    async addPasskey(caller: SessionCaller, name = "Laptop", device = newDevice(account)): Promise<PasskeyDocument> {
      const response = device.create(await account.domain.passkeys.beginRegistration(caller));
      return account.domain.passkeys.add(caller, { name, response });
    },

    /** Returns entries of the audit log in the order in which they were written. */
    entries: (filter: object) => account.domain.store.auditLog.find(filter).sort({ at: 1, _id: 1 }).toArray(),
  };
}

/** Returns a device that makes passkeys for the dashboard. */
export function newDevice({ dashboardUrl }: TestAccount): TestAuthenticator {
  return testAuthenticator(dashboardUrl.origin);
}

/** Returns a user as the caller of changes in the live environment. */
export function callerOf({ _id: actor, organization_id: organizationId }: UserDocument): CallerContext {
  const tenant = { organizationId, environment: "live" } as const;
  return { tenant, actor, requestId: "req_1", clientAddress: "203.0.113.9" };
}
