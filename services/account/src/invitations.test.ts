import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { CallerContext } from "@vvs/tenant";
import { operator } from "./audit.ts";
import { INVITATION_MS } from "./invitations.ts";
import { MAX_MAILS } from "./mail-limits.ts";
import { createTestAccount, type TestAccount } from "./test-account.ts";

let account: TestAccount;
let owner: CallerContext;
let numbers = 0;
let invited: string;
beforeAll(async () => {
  account = await createTestAccount(process.env.MONGODB_URI!);
});
beforeEach(async () => {
  owner = await newMember("owner", (await account.organization())._id);
  invited = `invited${++numbers}@example.com`;
});
afterAll(() => account.close());

const password = "correct horse battery";
const over = { code: "not_found" };

async function newMember(role: string, organizationId = owner.tenant.organizationId): Promise<CallerContext> {
  account.advance(1);
  const user = { organizationId, email: `member${++numbers}@example.com`, password, role };
  const { _id: actor } = await account.domain.createUser(operator, user);
  const tenant = { organizationId, environment: "live" } as const;
  return { tenant, actor, requestId: "req_1", clientAddress: `203.0.113.${numbers}` };
}

const invite = (role = "developer", by = owner, email = invited) =>
  account.domain.createInvitation(by, { email, role });

/** The token of the newest mail to an address. */
async function newestToken(email = invited): Promise<string> {
  const { text } = (await account.mailsTo(email)).at(-1)!;
  return new URL(/https:\S+/.exec(text)![0]).searchParams.get("token")!;
}

const place = () => ({ clientAddress: `198.51.100.${numbers}`, userAgent: "Test/1" });
const accept = (token: string) => account.domain.acceptInvitation({ token, password, ...place() });
const actions = async () =>
  (await account.domain.listAuditEntries(owner, { limit: 100 })).entries
    .map(({ entry }) => entry.action)
    .filter((action) => action.startsWith("invitation"));

describe("an invitation", () => {
  test("makes who reads the mail a member of that role, signed in, once", async () => {
    await invite("read_only", owner, ` ${invited.toUpperCase()} `);
    const token = await newestToken();
    expect(await account.domain.getInvitation(token)).toMatchObject({
      email: invited,
      organizationName: "Acme",
      role: "read_only",
      hasAccount: false,
    });
    const { token: sessionToken } = await accept(token);
    const session = await account.domain.getSession(sessionToken);
    expect(session).toMatchObject({ email: invited, role: "read_only", organizationId: owner.tenant.organizationId });
    await expect(account.domain.getInvitation(token)).rejects.toMatchObject(over);
    await expect(accept(token)).rejects.toMatchObject(over);
    expect(await account.domain.listInvitations(owner)).toEqual([]);
    expect(await actions()).toEqual(["invitation.accepted", "invitation.created"]);
  });

  test("of which the link is used twice at once makes one member", async () => {
    await invite();
    const token = await newestToken();
    const outcomes = await Promise.allSettled([accept(token), accept(token)]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(await account.domain.store.users.countDocuments({ email: invited })).toBe(1);
  });

  test("is stored without its link", async () => {
    await invite();
    const token = await newestToken();
    expect(token).toMatch(/^[\w-]{43}$/);
    const { store } = account.domain;
    for (const documents of await Promise.all([
      store.invitations.find().toArray(),
      store.mails.find().toArray(),
      store.auditLog.find().toArray(),
    ])) {
      expect(JSON.stringify(documents)).not.toContain(token);
    }
  });

  test("is over after 7 days, and good again when it is sent again", async () => {
    await invite();
    const first = await newestToken();
    account.advance(INVITATION_MS);
    await expect(accept(first)).rejects.toMatchObject(over);
    const [sent] = await account.domain.listInvitations(owner);
    await account.domain.resendInvitation(owner, sent!.invitation._id);
    const second = await newestToken();
    await expect(accept(first)).rejects.toMatchObject(over);
    await expect(accept(second)).resolves.toBeDefined();
    expect(await actions()).toEqual(["invitation.accepted", "invitation.resent", "invitation.created"]);
  });

  test("that is over can be made anew", async () => {
    await invite();
    account.advance(INVITATION_MS);
    await invite("owner");
    const sent = await account.domain.listInvitations(owner);
    expect(sent.map(({ invitation }) => invitation.role)).toEqual(["owner"]);
  });

  test("that was revoked is of no use, nor is one of an owner who is none any more", async () => {
    const { invitation } = await invite();
    const token = await newestToken();
    await account.domain.revokeInvitation(owner, invitation._id);
    await expect(accept(token)).rejects.toMatchObject(over);
    const revoking = account.domain.revokeInvitation(owner, invitation._id);
    await expect(revoking).rejects.toMatchObject(over);

    const second = await newMember("owner");
    await invite("owner", second);
    await account.domain.setMemberRole(owner, { userId: second.actor, role: "developer" });
    await expect(accept(await newestToken())).rejects.toMatchObject(over);
  });

  test("into a suspended organization is of no use while it is suspended", async () => {
    await invite();
    const token = await newestToken();
    await account.domain.suspendOrganization(operator, owner.tenant.organizationId);
    await expect(accept(token)).rejects.toMatchObject(over);
    await account.domain.resumeOrganization(operator, owner.tenant.organizationId);
    await expect(accept(token)).resolves.toBeDefined();
  });

  test("with a password that is none leaves the invitation as it is", async () => {
    await invite();
    const token = await newestToken();
    const accepting = account.domain.acceptInvitation({ token, password: "short", ...place() });
    await expect(accepting).rejects.toMatchObject({ code: "invalid_request" });
    await expect(accept(token)).resolves.toBeDefined();
  });
});

describe("an address that has an account elsewhere", () => {
  test("is invited like any other, and is told by the link alone that it can’t accept", async () => {
    const { _id: organizationId } = await account.organization();
    await account.domain.createUser(operator, { organizationId, email: invited, password });
    const { invitation } = await invite();
    expect(invitation).toMatchObject({ email: invited, role: "developer" });
    const token = await newestToken();
    expect(await account.domain.getInvitation(token)).toMatchObject({ hasAccount: true });
    await expect(accept(token)).rejects.toMatchObject({ code: "invalid_request" });
    const session = await account.domain.signIn({ email: invited, password, ...place() });
    expect(session.session.organizationId).toBe(organizationId);
  });
});

describe("nobody is invited", () => {
  test.each(["developer", "read_only"])("by who is %s", async (role) => {
    const { invitation } = await invite();
    const other = await newMember(role);
    for (const trying of [
      invite("owner", other, "stranger@example.com"),
      account.domain.listInvitations(other),
      account.domain.resendInvitation(other, invitation._id),
      account.domain.revokeInvitation(other, invitation._id),
    ]) {
      await expect(trying).rejects.toMatchObject({ code: "forbidden" });
    }
    expect(await account.mailsTo("stranger@example.com")).toEqual([]);
  });

  test("twice, nor who is a member, nor as what is no role, nor at what is no address", async () => {
    await invite();
    const { email } = (await account.domain.listMembers(owner))[0]!.user;
    for (const [address, role] of [
      [invited, "owner"],
      [email, "owner"],
      ["other@example.com", "admin"],
      ["nowhere", "owner"],
    ] as const) {
      await expect(invite(role, owner, address)).rejects.toMatchObject({ code: "invalid_request" });
    }
    expect(await account.domain.listInvitations(owner)).toHaveLength(1);
  });

  test("with an invitation of another organization", async () => {
    const { invitation } = await invite();
    const stranger = await newMember("owner", (await account.organization())._id);
    expect(await account.domain.listInvitations(stranger)).toEqual([]);
    await expect(account.domain.resendInvitation(stranger, invitation._id)).rejects.toMatchObject(over);
    await expect(account.domain.revokeInvitation(stranger, invitation._id)).rejects.toMatchObject(over);
  });

  test("more often than an address can bear", async () => {
    const { invitation } = await invite();
    const again = () => account.domain.resendInvitation(owner, invitation._id);
    for (let mails = 1; mails < MAX_MAILS.account; mails++) await again();
    await expect(again()).rejects.toMatchObject({ code: "rate_limited" });
    expect(await account.mailsTo(invited)).toHaveLength(MAX_MAILS.account);
  });
});
