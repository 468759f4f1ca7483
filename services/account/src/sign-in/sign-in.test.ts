import { describe, expect, test } from "@jest/globals";
import { operator } from "../audit/audit.ts";
import { ABSOLUTE_TIMEOUT_MS, IDLE_TIMEOUT_MS } from "../sessions/sessions.ts";
import { createIdentityProviders } from "../sso/identity-providers.ts";
import { sharedParts, testAccount } from "../testing/account.ts";
import { stepOf, totpCode } from "../testing/totp.ts";
import { createSignIns } from "./sign-in.ts";

const account = await testAccount();
let users = 0;

async function newUser() {
  const organization = await account.organization();
  const email = `user${++users}@example.com`;
  const password = "correct horse";
  const user = await account.domain.users.create(operator, { organizationId: organization._id, email, password });
  return { user, email, password, organization, clientAddress: `203.0.113.${users}` };
}

const refused = { code: "unauthorized", message: "The email address or the password is wrong." };

describe("signing in", () => {
  test("begins a session of the user's organization, also with capital letters in the address", async () => {
    const { user, email, password, organization, clientAddress } = await newUser();
    const { token, session } = await account.domain.signIns.signIn({
      email: ` ${email.toUpperCase()}`,
      password,
      clientAddress,
    });
    expect(session).toEqual({
      userId: user._id,
      email,
      organizationId: organization._id,
      organizationName: "Acme",
      role: "owner",
      isOperator: false,
      expiresAt: new Date(account.clock.now.getTime() + ABSOLUTE_TIMEOUT_MS),
      authenticatedAt: account.clock.now,
    });
    expect(await account.domain.signIns.getSession(token)).toEqual(session);
    await expect(account.domain.signIns.getSession(`${token}x`)).rejects.toMatchObject({ code: "unauthorized" });
  });

  test("with only the password begins no session if the user turns an authenticator app on meanwhile", async () => {
    const { user, email, password, clientAddress } = await newUser();
    const { token } = await account.domain.signIns.signIn({ email, password, clientAddress });
    const caller = { token, clientAddress };
    const { secret } = await account.domain.secondFactor.beginTotp(caller);
    const parts = sharedParts(account);
    const slow = createSignIns({
      ...parts,
      users: account.domain.users,
      identityProviders: createIdentityProviders([]),
      secondFactor: { useCode: async () => false },
      liveSessions: {
        ...parts.liveSessions,
        // Between the comparison of the password and the transaction that stores the session.
        async describe(session) {
          await account.domain.secondFactor.enableTotp(caller, totpCode(secret, stepOf(account.clock.now)));
          return parts.liveSessions.describe(session);
        },
      },
    });
    await expect(slow.signIn({ email, password, clientAddress })).rejects.toMatchObject(refused);
    expect(await parts.store.sessions.countDocuments({ user_id: user._id })).toBe(1);
  });

  test("fails with the same text for any cause", async () => {
    const { email, password, organization, clientAddress } = await newUser();
    const wrong = account.domain.signIns.signIn({ email, password: "wrong horse", clientAddress });
    await expect(wrong).rejects.toMatchObject(refused);
    const unknown = account.domain.signIns.signIn({ email: "nobody@example.com", password, clientAddress });
    await expect(unknown).rejects.toMatchObject(refused);
    await account.domain.organizations.suspend(operator, organization._id);
    await expect(account.domain.signIns.signIn({ email, password, clientAddress })).rejects.toMatchObject(refused);
  });
});

describe("a session", () => {
  test("lives as long as it is used, and at most 7 days", async () => {
    const { email, password, clientAddress } = await newUser();
    const { token } = await account.domain.signIns.signIn({ email, password, clientAddress });
    const end = account.clock.now.getTime() + ABSOLUTE_TIMEOUT_MS;
    while (account.clock.now.getTime() + IDLE_TIMEOUT_MS <= end) {
      account.advance(IDLE_TIMEOUT_MS - 1);
      await expect(account.domain.signIns.getSession(token)).resolves.toMatchObject({ email });
    }
    account.clock.now = new Date(end);
    await expect(account.domain.signIns.getSession(token)).rejects.toMatchObject({ code: "unauthorized" });
  });

  test("ends with a sign-out, which is repeatable", async () => {
    const { email, password, clientAddress } = await newUser();
    const { token } = await account.domain.signIns.signIn({ email, password, clientAddress });
    await account.domain.signIns.signOut(token);
    await account.domain.signIns.signOut(token);
    await expect(account.domain.signIns.getSession(token)).rejects.toMatchObject({ code: "unauthorized" });
  });

  test("ends with a new password or the organization's suspension, and stays ended", async () => {
    const { email, password, organization, clientAddress } = await newUser();
    const first = await account.domain.signIns.signIn({ email, password, clientAddress });
    await account.domain.users.setPassword(operator, { email, password: "another horse" });
    await expect(account.domain.signIns.getSession(first.token)).rejects.toMatchObject({ code: "unauthorized" });
    const second = await account.domain.signIns.signIn({ email, password: "another horse", clientAddress });
    await account.domain.organizations.suspend(operator, organization._id);
    await account.domain.organizations.resume(operator, organization._id);
    await expect(account.domain.signIns.getSession(second.token)).rejects.toMatchObject({ code: "unauthorized" });
  });

  test("its start and end are audited with the client's address", async () => {
    const { user, email, password, clientAddress } = await newUser();
    const { token } = await account.domain.signIns.signIn({ email, password, clientAddress });
    await account.domain.signIns.signOut(token);
    const entries = await account.domain.store.auditLog.find({ actor: user._id }).sort({ _id: 1 }).toArray();
    expect(entries.map(({ action, client_address }) => [action, client_address])).toEqual([
      ["user.signed_in", clientAddress],
      ["user.signed_out", undefined],
    ]);
  });
});

describe("a user", () => {
  test("has a unique address, ignoring case", async () => {
    const { email, organization } = await newUser();
    const again = { organizationId: organization._id, email: email.toUpperCase(), password: "correct horse" };
    await expect(account.domain.users.create(operator, again)).rejects.toMatchObject({
      code: "invalid_request",
      details: [{ path: "email" }],
    });
  });

  test.each(["", "nobody", "a@", "@b", "a b@example.com", `${"x".repeat(250)}@example.com`])(
    "can't have the address %p",
    async (email) => {
      const { _id: organizationId } = await account.organization();
      const created = account.domain.users.create(operator, { organizationId, email, password: "correct horse" });
      await expect(created).rejects.toMatchObject({ code: "invalid_request", details: [{ path: "email" }] });
    },
  );

  test("has the role that is given, which the audit log names, and none that is unknown", async () => {
    const { _id: organizationId } = await account.organization();
    const create = (role: string) =>
      account.domain.users.create(operator, {
        organizationId,
        email: "r@example.com",
        password: "correct horse",
        role,
      });
    await expect(create("admin")).rejects.toMatchObject({ code: "invalid_request", details: [{ path: "role" }] });
    const { _id: target, role } = await create("read_only");
    expect(role).toBe("read_only");
    const entry = await account.domain.store.auditLog.findOne({ action: "user.created", target });
    expect(entry?.details).toEqual({ role });
  });

  test("belongs to an organization that exists", async () => {
    const input = { organizationId: "org_x", email: "lost@example.com", password: "correct horse" };
    await expect(account.domain.users.create(operator, input)).rejects.toMatchObject({ code: "not_found" });
    const unknown = account.domain.users.setPassword(operator, {
      email: "lost@example.com",
      password: "correct horse",
    });
    await expect(unknown).rejects.toMatchObject({ code: "not_found" });
  });
});
