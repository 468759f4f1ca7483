import { beforeEach, describe, expect, test } from "@jest/globals";
import { ApiKeyService } from "@vvs/proto/account/v1/api_keys";
import { AuditLogService } from "@vvs/proto/account/v1/audit_log";
import { OrganizationService } from "@vvs/proto/account/v1/organization";
import { WebhookSecretService } from "@vvs/proto/account/v1/webhook_secrets";
import { toProtoCaller } from "@vvs/tenant";
import type { UserDocument } from "../store.ts";
import { testApi } from "../testing/api.ts";
import { callerOf, newDevice, people } from "../testing/people.ts";
import { newWebhookSecret } from "../webhook-secrets/secret-rotation.ts";

const MINUTE_MS = 60_000;
const forbidden = { code: "forbidden" };

const { account, clientOf } = await testApi();
const keys = clientOf(ApiKeyService, "dashboard");
const secrets = clientOf(WebhookSecretService, "dashboard");
const organization = clientOf(OrganizationService, "dashboard");
const auditLog = clientOf(AuditLogService, "dashboard");
const { newUser, signIn } = people(account);
let number = 0;
let owner: UserDocument;
let other: UserDocument;
let keyId: string;
let invitationId: string;

beforeEach(async () => {
  account.advance(60 * MINUTE_MS);
  owner = await newUser();
  other = await newUser("developer", owner.organization_id);
  const caller = callerOf(owner);
  keyId = (await account.domain.apiKeys.create(caller, { name: "Billing" })).key._id;
  const invited = { email: `invited${++number}@example.com`, role: "developer" };
  invitationId = (await account.domain.invitations.create(caller, invited)).invitation._id;
});

/** Returns the fields of requests on behalf of a user, with a new session of them. */
async function by(user: UserDocument, session = user) {
  const { token: sessionToken } = await signIn(session);
  return { caller: toProtoCaller(callerOf(user)), sessionToken };
}

type BySession = Awaited<ReturnType<typeof by>>;

/** Changes, and reads of secrets, each with whether an old confirmation is enough for it. */
const calls: Record<string, { call: (request: BySession) => Promise<unknown>; old?: boolean }> = {
  "creating an API key": { call: (request) => keys.createApiKey({ ...request, name: "New" }) },
  "rolling an API key": { call: (request) => keys.rollApiKey({ ...request, keyId }) },
  "revoking an API key": { call: (request) => keys.revokeApiKey({ ...request, keyId }), old: true },
  "showing the webhook secret": { call: (request) => secrets.getWebhookSecret(request) },
  "setting the webhook secret": {
    call: (request) => secrets.setWebhookSecret({ ...request, value: newWebhookSecret() }),
  },
  "rotating the webhook secret": { call: (request) => secrets.rotateWebhookSecret(request) },
  "ending the previous webhook secret": { call: (request) => secrets.endPreviousWebhookSecret(request) },
  "changing a role": {
    call: (request) => organization.setMemberRole({ ...request, userId: other._id, role: "read_only" }),
  },
  "removing a member": { call: (request) => organization.removeMember({ ...request, userId: other._id }) },
  "inviting a person": {
    call: (request) => organization.createInvitation({ ...request, email: "new@example.com", role: "developer" }),
  },
  "sending an invitation again": { call: (request) => organization.resendInvitation({ ...request, invitationId }) },
  "revoking an invitation": { call: (request) => organization.revokeInvitation({ ...request, invitationId }) },
  "listing the invitations": { call: (request) => organization.listInvitations(request), old: true },
  "reading the audit log": {
    call: (request) => auditLog.listAuditEntries({ ...request, page: { limit: 1 } }),
    old: true,
  },
};

describe.each(Object.entries(calls))("%s", (_name, { call, old = false }) => {
  test("is for an owner with a session of their own", async () => {
    await expect(call(await by(owner))).resolves.toBeDefined();
  });

  test("is refused without a session, whoever is named", async () => {
    for (const actor of [owner._id, "operator", "test"]) {
      const { caller } = await by(owner);
      await expect(call({ caller: { ...caller, actor }, sessionToken: "" })).rejects.toMatchObject(forbidden);
    }
  });

  test("is refused with the session of another user, of the same organization or of another", async () => {
    const stranger = await newUser();
    for (const thief of [other, stranger]) {
      await expect(call(await by(owner, thief))).rejects.toMatchObject(forbidden);
    }
  });

  test("is refused after the session ended", async () => {
    const request = await by(owner);
    await account.domain.signIns.signOut(request.sessionToken);
    await expect(call(request)).rejects.toMatchObject({ code: "unauthorized" });
  });

  test.each(["payables", "read_only"])("is refused to a member with the role %s", async (role) => {
    const reader = await newUser(role, owner.organization_id);
    await expect(call(await by(reader))).rejects.toMatchObject(forbidden);
  });

  test(old ? "needs no recent confirmation" : "is refused when the last confirmation is old", async () => {
    const request = await by(owner);
    account.advance(17 * MINUTE_MS);
    if (old) await expect(call(request)).resolves.toBeDefined();
    else await expect(call(request)).rejects.toMatchObject({ ...forbidden, message: expect.stringContaining("again") });
  });
});

test("a session that ends after its user was identified makes no key, and reads no secret", async () => {
  const request = await by(owner);
  const session = await account.domain.callersBySession.confirmed(request as never);
  await account.domain.signIns.signOut(request.sessionToken);
  const over = { code: "unauthorized" };
  await expect(account.domain.apiKeys.create(session, { name: "Late" })).rejects.toMatchObject(over);
  await expect(account.domain.webhookSecrets.get(session)).rejects.toMatchObject(over);
  const change = { userId: other._id, role: "owner" };
  await expect(account.domain.members.setRole(session, change)).rejects.toMatchObject(over);
});

test("a stolen session can't change how its user signs in without a recent confirmation", async () => {
  const caller = await signIn(owner);
  const response = newDevice(account).create(await account.domain.passkeys.beginRegistration(caller));
  account.advance(17 * MINUTE_MS);
  const { passkeys, secondFactor } = account.domain;
  for (const change of [
    () => passkeys.beginRegistration(caller),
    () => passkeys.add(caller, { name: "Thief", response }),
    () => passkeys.remove(caller, "pky_1"),
    () => secondFactor.beginTotp(caller),
    () => secondFactor.enableTotp(caller, "000000"),
    () => secondFactor.disableTotp(caller),
  ]) {
    await expect(change()).rejects.toMatchObject(forbidden);
  }
});
