import { beforeEach, describe, expect, test } from "@jest/globals";
import { isOutcomeUnknown, ServiceError } from "@vvs/errors";
import type { CallerContext } from "@vvs/tenant";
import { operator } from "../audit/audit.ts";
import { createMembers } from "../members/members.ts";
import { MAX_INVITATIONS } from "../sessions/attempt-limits.ts";
import { auditQuery, sharedParts, testAccount, tokenIn } from "../testing/account.ts";
import { callerOf, password, people } from "../testing/people.ts";
import { createInvitations, INVITATION_MS } from "./invitations.ts";

const account = await testAccount();
const { newUser } = people(account);
let owner: CallerContext;
let numbers = 0;
let invited: string;
beforeEach(async () => {
  owner = callerOf(await newUser());
  invited = `invited${++numbers}@example.com`;
});

const over = { code: "not_found" };
const newMember = async (role: string) => callerOf(await newUser(role, owner.tenant.organizationId));
const invite = (role = "developer", by = owner, email = invited) =>
  account.domain.invitations.create(by, { email, role });

/** Returns the token of the newest email to the invited person. */
const newestToken = async () => tokenIn((await account.mailsTo(invited)).at(-1));

const place = () => ({ clientAddress: `198.51.100.${numbers}`, userAgent: "Test/1" });
const accept = (token: string) => account.domain.invitations.accept({ token, password, ...place() });
const actions = async () =>
  (await account.domain.auditLog.list(owner, auditQuery({ page: { limit: 100 } }))).entries
    .map(({ entry }) => entry.action)
    .filter((action) => action.startsWith("invitation"));

describe("an invitation", () => {
  test("makes the reader of the email a member with its role, signed in, once", async () => {
    await invite("read_only", owner, ` ${invited.toUpperCase()} `);
    const token = await newestToken();
    expect(await account.domain.invitations.get(token)).toMatchObject({
      email: invited,
      organizationName: "Acme",
      role: "read_only",
      hasAccount: false,
    });
    const { token: sessionToken } = await accept(token);
    const session = await account.domain.signIns.getSession(sessionToken);
    expect(session).toMatchObject({ email: invited, role: "read_only", organizationId: owner.tenant.organizationId });
    await expect(account.domain.invitations.get(token)).rejects.toMatchObject(over);
    await expect(accept(token)).rejects.toMatchObject(over);
    expect(await account.domain.invitations.list(owner)).toEqual([]);
    expect(await actions()).toEqual(["invitation.accepted", "invitation.created"]);
  });

  test("whose link is used twice concurrently creates one member", async () => {
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

  test("expires after 7 days, and works again when it is sent again", async () => {
    await invite();
    const first = await newestToken();
    account.advance(INVITATION_MS);
    await expect(accept(first)).rejects.toMatchObject(over);
    const [sent] = await account.domain.invitations.list(owner);
    await account.domain.invitations.resend(owner, sent!.invitation._id);
    const second = await newestToken();
    await expect(accept(first)).rejects.toMatchObject(over);
    await expect(accept(second)).resolves.toBeDefined();
    expect(await actions()).toEqual(["invitation.accepted", "invitation.resent", "invitation.created"]);
  });

  test("that has expired can be created again", async () => {
    await invite();
    account.advance(INVITATION_MS);
    await invite("owner");
    const sent = await account.domain.invitations.list(owner);
    expect(sent.map(({ invitation }) => invitation.role)).toEqual(["owner"]);
  });

  test("no longer works when it was revoked, or when its sender is no longer an owner", async () => {
    const { invitation } = await invite();
    const token = await newestToken();
    await account.domain.invitations.revoke(owner, invitation._id);
    await expect(accept(token)).rejects.toMatchObject(over);
    const revoking = account.domain.invitations.revoke(owner, invitation._id);
    await expect(revoking).rejects.toMatchObject(over);

    const second = await newMember("owner");
    await invite("owner", second);
    await account.domain.members.setRole(owner, { userId: second.actor, role: "developer" });
    await expect(accept(await newestToken())).rejects.toMatchObject(over);
    const [entry] = (
      await account.domain.auditLog.list(owner, auditQuery({ action: "invitation.revoked", page: { limit: 1 } }))
    ).entries;
    expect(entry!.entry).toMatchObject({ actor: owner.actor, details: { email: invited } });
    expect(await actions()).toEqual([
      "invitation.revoked",
      "invitation.created",
      "invitation.revoked",
      "invitation.created",
    ]);
  });

  test("does not work while its organization is suspended", async () => {
    await invite();
    const token = await newestToken();
    await account.domain.organizations.suspend(operator, owner.tenant.organizationId);
    await expect(accept(token)).rejects.toMatchObject(over);
    await account.domain.organizations.resume(operator, owner.tenant.organizationId);
    await expect(accept(token)).resolves.toBeDefined();
  });

  test("stays open if the password is refused", async () => {
    await invite();
    const token = await newestToken();
    const accepting = account.domain.invitations.accept({ token, password: "short", ...place() });
    await expect(accepting).rejects.toMatchObject({ code: "invalid_request" });
    await expect(accept(token)).resolves.toBeDefined();
  });
});

describe("an address that has an account elsewhere", () => {
  test("is invited like any other, and only the link reveals that it can’t accept", async () => {
    const { _id: organizationId } = await account.organization();
    await account.domain.users.create(operator, { organizationId, email: invited, password });
    const { invitation } = await invite();
    expect(invitation).toMatchObject({ email: invited, role: "developer" });
    const token = await newestToken();
    expect(await account.domain.invitations.get(token)).toMatchObject({ hasAccount: true });
    await expect(accept(token)).rejects.toMatchObject({ code: "invalid_request" });
    const session = await account.domain.signIns.signIn({ email: invited, password, ...place() });
    expect(session.session.organizationId).toBe(organizationId);
  });
});

describe("nobody is invited", () => {
  test.each(["developer", "payables", "read_only"])("by a member who is %s", async (role) => {
    const { invitation } = await invite();
    const other = await newMember(role);
    for (const trying of [
      invite("owner", other, "stranger@example.com"),
      account.domain.invitations.list(other),
      account.domain.invitations.resend(other, invitation._id),
      account.domain.invitations.revoke(other, invitation._id),
    ]) {
      await expect(trying).rejects.toMatchObject({ code: "forbidden" });
    }
    expect(await account.mailsTo("stranger@example.com")).toEqual([]);
  });

  test("twice, as a member already, with an unknown role, or at an invalid address", async () => {
    await invite();
    const { email } = (await account.domain.members.list(owner))[0]!.user;
    for (const [address, role] of [
      [invited, "owner"],
      [email, "owner"],
      ["other@example.com", "admin"],
      ["nowhere", "owner"],
    ] as const) {
      await expect(invite(role, owner, address)).rejects.toMatchObject({ code: "invalid_request" });
    }
    expect(await account.domain.invitations.list(owner)).toHaveLength(1);
  });

  test("by means of another organization's invitation", async () => {
    const { invitation } = await invite();
    const stranger = callerOf(await newUser());
    expect(await account.domain.invitations.list(stranger)).toEqual([]);
    await expect(account.domain.invitations.resend(stranger, invitation._id)).rejects.toMatchObject(over);
    await expect(account.domain.invitations.revoke(stranger, invitation._id)).rejects.toMatchObject(over);
  });

  test("beyond 100 open invitations; the oldest that has expired makes room", async () => {
    const { store } = account.domain;
    const { invitation } = await invite();
    const copies = Array.from({ length: 99 }, (_, n) => {
      const [_id, email] = [`inv_${numbers}_${n}`, `copy${n}-${invited}`];
      return { ...invitation, _id, email, token_hash: _id };
    });
    await store.invitations.insertMany(copies);
    const next = () => invite("developer", owner, `next-${invited}`);
    await expect(next()).rejects.toMatchObject({ code: "limit_exceeded" });
    await store.invitations.updateOne({ _id: copies[7]!._id }, { $set: { expires_at: account.clock.now } });
    await next();
    expect(await store.invitations.findOne({ _id: copies[7]!._id })).toBeNull();
    await store.invitations.updateOne({ _id: copies[8]!._id }, { $set: { expires_at: account.clock.now } });
    await invite("developer", owner, copies[8]!.email);
    expect(await account.domain.invitations.list(owner)).toHaveLength(100);
  });

  test("beyond the limits of emails to an address, of one organization and of all", async () => {
    const limited = { code: "rate_limited" };
    for (let mails = 0; mails < MAX_INVITATIONS.accountOfAll; mails += MAX_INVITATIONS.account) {
      const by = callerOf(await newUser());
      const { invitation } = await invite("developer", by);
      const again = () => account.domain.invitations.resend(by, invitation._id);
      for (let own = 1; own < MAX_INVITATIONS.account; own++) await again();
      await expect(again()).rejects.toMatchObject(limited);
      expect(await account.mailsTo(invited)).toHaveLength(mails + MAX_INVITATIONS.account);
    }
    await expect(invite()).rejects.toMatchObject(limited);
    expect(await account.mailsTo(invited)).toHaveLength(MAX_INVITATIONS.accountOfAll);
  });
});

test("an owner who loses the role meanwhile cannot send an invitation again", async () => {
  const { invitation } = await invite();
  const other = await newMember("owner");
  const shared = sharedParts(account);
  const { store, audit } = shared;
  const [demoting, demoted, asked] = [0, 1, 2].map(() => Promise.withResolvers<void>());
  const members = createMembers({
    ...shared,
    audit: {
      async append(...entry) {
        await audit.append(...entry);
        demoting!.resolve();
        await demoted!.promise; // the transaction stays open
      },
    },
  });
  const locks = Object.create(store.memberLocks) as typeof store.memberLocks;
  locks.updateOne = (...update: Parameters<typeof locks.updateOne>) => {
    asked!.resolve();
    return store.memberLocks.updateOne(...update);
  };
  const invitations = createInvitations({
    ...shared,
    store: { ...store, memberLocks: locks },
    users: { ...account.domain.users, insert: async () => undefined },
    signIns: account.domain.signIns,
    mailQueue: { enqueue: async () => undefined },
  });
  const demotion = members.setRole(owner, { userId: other.actor, role: "developer" });
  await demoting!.promise;
  const again = invitations.resend(other, invitation._id);
  await Promise.race([again, asked!.promise]);
  demoted!.resolve();
  await demotion;
  await expect(again).rejects.toMatchObject({ code: "forbidden" });
  expect(await store.invitations.findOne({ _id: invitation._id })).toMatchObject({ invited_by: owner.actor });
});

test("an invitation is accepted even if strangers failed to sign in with the address", async () => {
  await invite();
  const token = await newestToken();
  const failed = async () =>
    account.domain.signIns.signIn({ email: invited, password: "wrong password", ...place() }).catch(({ code }) => code);
  while ((await failed()) !== "rate_limited");
  const { session } = await account.domain.invitations.accept({ token, password, ...place() });
  expect(session.email).toBe(invited);
});

test("a member who was created but could not be signed in gets an unknown outcome, not a refusal", async () => {
  await invite();
  const { users } = account.domain;
  const invitations = createInvitations({
    ...sharedParts(account),
    users,
    signIns: { beginFirst: () => Promise.reject(new ServiceError("service_unavailable")) },
  });
  const accepted = invitations.accept({ token: await newestToken(), password, ...place() });
  expect(isOutcomeUnknown(await accepted.catch((error: unknown) => error))).toBe(true);
  expect(await users.find(invited)).toBeDefined();
});
