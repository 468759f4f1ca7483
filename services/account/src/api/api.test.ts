import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { expect, test } from "@jest/globals";
import { hashApiKey } from "@vvs/api-keys";
import { ApiKeyService } from "@vvs/proto/account/v1/api_keys";
import { AuditLogService } from "@vvs/proto/account/v1/audit_log";
import { SessionService } from "@vvs/proto/account/v1/sessions";
import { WebhookSecretService } from "@vvs/proto/account/v1/webhook_secrets";
import { toProtoCaller, toProtoTenant } from "@vvs/tenant";
import { operator } from "../audit/audit.ts";
import { callerOfOrganization } from "../testing/account.ts";
import { testApi } from "../testing/api.ts";

const { account, clientOf } = await testApi();

/** All methods that the dashboard needs here. */
function dashboardClient() {
  return {
    sessions: clientOf(SessionService, "dashboard"),
    apiKeys: clientOf(ApiKeyService, "dashboard"),
    webhookSecrets: clientOf(WebhookSecretService, "dashboard"),
  };
}

test("the dashboard signs a user in, creates, lists, rolls and revokes a key, rotates the secret, and signs out", async () => {
  const { sessions, apiKeys, webhookSecrets } = dashboardClient();
  const { _id: organizationId } = await account.organization();
  const credentials = { email: "owner@example.com", password: "correct horse" };
  const user = await account.domain.users.create(operator, { organizationId, ...credentials });
  const { sessionToken } = await sessions.signIn({ ...credentials, clientAddress: "203.0.113.9" });
  const { session } = await sessions.getSession({ sessionToken });
  expect(session).toMatchObject({ userId: user._id, organizationId, organizationName: "Acme" });

  const caller = { ...toProtoCaller(callerOfOrganization(organizationId, "live")), actor: user._id };
  const bySession = { caller, sessionToken };
  const created = await apiKeys.createApiKey({ ...bySession, name: "Billing", scopes: ["entities:read"] });
  expect(created.value).toMatch(/^svc_live_/);
  expect(created.key).toMatchObject({ name: "Billing", createdBy: user._id, scopes: ["entities:read"] });
  const { keys } = await apiKeys.listApiKeys({ caller });
  expect(keys).toMatchObject([{ id: created.key!.id, createdByEmail: credentials.email }]);
  const { key: next, rolled } = await apiKeys.rollApiKey({ ...bySession, keyId: created.key!.id, overlapSeconds: 60 });
  expect(next).toMatchObject({ name: "Billing", scopes: ["entities:read"] });
  expect(rolled).toMatchObject({ id: created.key!.id, rolledTo: next!.id });
  expect(rolled!.expiresAt).toBeDefined();
  expect((await apiKeys.revokeApiKey({ ...bySession, keyId: created.key!.id })).key!.revokedAt).toBeDefined();

  const { secret: before } = await webhookSecrets.getWebhookSecret(bySession);
  const { secret: after } = await webhookSecrets.rotateWebhookSecret(bySession);
  expect(after!.previousValidUntil).toBeDefined();
  const tenant = toProtoTenant({ organizationId, environment: "live" });
  const dispatcher = clientOf(WebhookSecretService, "webhook-dispatcher");
  const { secrets } = await dispatcher.getSigningSecrets({ tenant });
  expect(secrets).toEqual([after!.value, before!.value]);
  expect((await webhookSecrets.endPreviousWebhookSecret(bySession)).secret!.value).toBe("");
  expect((await dispatcher.getSigningSecrets({ tenant })).secrets).toEqual([after!.value]);

  await sessions.signOut({ sessionToken });
  await expect(sessions.getSession({ sessionToken })).rejects.toMatchObject({ code: "unauthorized" });
});

test("the dispatcher learns which private hosts an organization may reach, and no other organization may", async () => {
  const [one, other] = [await account.organization(), await account.organization()];
  const { setPrivateHosts } = account.domain.organizations;
  await setPrivateHosts(operator, one._id, ["receiver.example"]);
  const dispatcher = clientOf(WebhookSecretService, "webhook-dispatcher");
  const hostsOf = async (organizationId: string) => {
    const tenant = toProtoTenant({ organizationId, environment: "live" });
    return (await dispatcher.getSigningSecrets({ tenant })).privateHosts;
  };
  expect([await hostsOf(one._id), await hostsOf(other._id)]).toEqual([["receiver.example"], []]);
  for (const wrong of [
    ["a b"],
    ["https://a.example"],
    ["*.example"],
    Array.from({ length: 21 }, (_, at) => `h${at}`),
  ]) {
    await expect(setPrivateHosts(operator, one._id, wrong)).rejects.toMatchObject({ code: "invalid_request" });
  }
  await expect(setPrivateHosts(operator, "org_x", [])).rejects.toMatchObject({ code: "not_found" });
});

test("a service reports only the actions that users and API keys take in it, and one that is sent again is one entry", async () => {
  const { _id: organizationId } = await account.organization();
  const caller = toProtoCaller(callerOfOrganization(organizationId, "live"));
  const entry = { caller, action: "webhook_test.sent", target: "dlv_1", details: { host: "acme.example" } };
  await clientOf(AuditLogService, "webhook-dispatcher").appendAuditEntry(entry);
  for (const name of ["gateway", "entity"])
    await expect(clientOf(AuditLogService, name).appendAuditEntry(entry)).rejects.toMatchObject({ code: "forbidden" });
  const archived = { caller, action: "vendor.archived", target: "ent_1" };
  await clientOf(AuditLogService, "dashboard").appendAuditEntry(archived);
  const at = timestampFromDate(new Date("2126-03-01T10:00:00Z"));
  const asked = { caller, action: "verification.asked", target: "key_1", entryId: "hour", at, count: 3n, lastAt: at };
  for (const count of [2n, 3n]) await clientOf(AuditLogService, "verification").appendAuditEntry({ ...asked, count });
  for (const [name, refused] of [
    ["verification", { ...asked, at: undefined }],
    ["monitor", asked],
    ["verification", entry],
    ["dashboard", entry],
    ["webhook-dispatcher", archived],
  ] as const) {
    const reporting = clientOf(AuditLogService, name).appendAuditEntry(refused);
    await expect(reporting).rejects.toMatchObject({ code: "invalid_request" });
  }
  const actions = ["webhook_test.sent", "vendor.archived", "verification.asked"];
  const reported = { action: { $in: actions }, organization_id: organizationId };
  const found = await account.domain.store.auditLog.find(reported).sort({ action: -1 }).toArray();
  expect(found).toMatchObject([
    { action: "webhook_test.sent", details: { host: "acme.example" } },
    { action: "verification.asked", details: { count: 3 } },
    { action: "vendor.archived", target: "ent_1" },
  ]);
});

test("a gateway gets a key's record by any of its hashes, and not_found for other hashes", async () => {
  const gateway = clientOf(ApiKeyService, "gateway");
  const { _id } = await account.organization("starter");
  const { key, value } = await account.domain.apiKeys.create(callerOfOrganization(_id, "sandbox"), { name: "a" });
  const hashes = hashApiKey(account.apiKeyPeppers, value).map(({ hash }) => hash);
  const { key: record } = await gateway.getApiKey({ hashes: [Buffer.alloc(32), ...hashes] });
  expect(record).toMatchObject({ id: key._id, pepperId: "p1", limitPerMinute: 100, organizationSuspended: false });
  await expect(gateway.getApiKey({ hashes: [Buffer.alloc(32)] })).rejects.toMatchObject({ code: "not_found" });
});

test("a gateway that watches receives a revocation over gRPC", async () => {
  const caller = callerOfOrganization((await account.organization())._id, "live");
  const { key } = await account.domain.apiKeys.create(caller, { name: "a" });
  const seen: string[] = [];
  for await (const { step } of clientOf(ApiKeyService, "gateway").watchApiKeys({})) {
    if (step.case === "snapshotDone") await account.domain.apiKeys.revoke(caller, key._id);
    if (step.case !== "key" || step.value.id !== key._id) continue;
    seen.push(step.value.revokedAt ? "revoked" : "active");
    if (step.value.revokedAt) break;
  }
  expect(seen).toEqual(["active", "revoked"]);
});

test.each([
  ["gateway", "getWebhookSecret"],
  ["gateway", "getSigningSecrets"],
  ["dashboard", "getSigningSecrets"],
] as const)("%s may not call %s of webhook secrets", async (caller, method) => {
  await expect(clientOf(WebhookSecretService, caller)[method]({})).rejects.toMatchObject({ code: "forbidden" });
});

test.each([
  ["monitor", "getApiKey"],
  ["webhook-dispatcher", "createApiKey"],
] as const)("%s may not call %s of API keys", async (caller, method) => {
  await expect(clientOf(ApiKeyService, caller)[method]({})).rejects.toMatchObject({ code: "forbidden" });
});

test("no key, password, session token or webhook secret is in the database in plain text", async () => {
  const { _id: organizationId } = await account.organization();
  const credentials = { email: "clear@example.com", password: "a password in clear" };
  const { _id: actor } = await account.domain.users.create(operator, { organizationId, ...credentials });
  const { sessions, apiKeys, webhookSecrets } = dashboardClient();
  const { sessionToken } = await sessions.signIn({ ...credentials, clientAddress: "203.0.113.10" });
  const bySession = { caller: { ...toProtoCaller(callerOfOrganization(organizationId, "live")), actor }, sessionToken };
  await expect(
    sessions.signIn({ email: credentials.password, password: credentials.password, clientAddress: "203.0.113.10" }),
  ).rejects.toMatchObject({ code: "unauthorized" });
  const { value } = await apiKeys.createApiKey({ ...bySession, name: "a" });
  const { secret: first } = await webhookSecrets.getWebhookSecret(bySession);
  const { secret: second } = await webhookSecrets.rotateWebhookSecret(bySession);

  const dump: Buffer[] = [];
  for (const { name } of await account.domain.store.db.listCollections().toArray()) {
    const documents = account.domain.store.db.collection(name).find({}, { raw: true });
    for await (const document of documents) dump.push(document as unknown as Buffer);
  }
  const bytes = Buffer.concat(dump);
  expect(bytes.includes("clear@example.com")).toBe(true);
  const raw = (text: string) => Buffer.from(text.slice("whsec_".length), "base64");
  for (const secret of [credentials.password, sessionToken, value, first!.value, second!.value]) {
    expect(bytes.includes(secret)).toBe(false);
  }
  for (const secret of [first!.value, second!.value]) expect(bytes.includes(raw(secret))).toBe(false);
});
