import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { hashApiKey } from "@vvs/api-keys";
import { translateMongoError } from "@vvs/mongo";
import { AccountService } from "@vvs/proto/account/v1/account";
import { type Client, createClient, type RpcServer, serveRpc } from "@vvs/rpc";
import { toProtoCaller, toProtoTenant } from "@vvs/tenant";
import { operator } from "./audit.ts";
import { createKeyFeed } from "./key-feed.ts";
import { createAccountMetrics } from "./metrics.ts";
import { accountCallers, createAccountHandlers } from "./service.ts";
import { callerOfOrganization, createTestAccount, logger, type TestAccount } from "./test-account.ts";

let account: TestAccount;
let server: RpcServer;
const clients: Record<string, Client<typeof AccountService>> = {};

beforeAll(async () => {
  account = await createTestAccount(process.env.MONGODB_URI!);
  const { domain } = account;
  const keyFeed = createKeyFeed({
    store: domain.store,
    records: domain.keyRecords,
    logger,
    onWatchers: () => undefined,
  });
  server = await serveRpc({
    service: AccountService,
    handlers: createAccountHandlers({ domain, keyFeed, metrics: createAccountMetrics(), logger }),
    callers: accountCallers,
    host: "127.0.0.1",
    port: 0,
    tls: undefined,
    logger,
    translate: translateMongoError,
  });
  for (const caller of ["gateway", "dashboard", "webhook-dispatcher", "monitor"]) {
    clients[caller] = createClient(AccountService, { address: `127.0.0.1:${server.port}`, caller, tls: undefined });
  }
});

afterAll(async () => {
  for (const client of Object.values(clients)) client.close();
  await server.close(100);
  await account.close();
});

test("the dashboard's life of a user: sign in, create a key, see it, revoke it, rotate the secret, sign out", async () => {
  const dashboard = clients.dashboard!;
  const { _id: organizationId } = await account.organization();
  const credentials = { email: "owner@example.com", password: "correct horse" };
  const user = await account.domain.createUser(operator, { organizationId, ...credentials });
  const { sessionToken } = await dashboard.signIn({ ...credentials, clientAddress: "203.0.113.9" });
  const { session } = await dashboard.getSession({ sessionToken });
  expect(session).toMatchObject({ userId: user._id, organizationId, organizationName: "Acme" });

  const caller = { ...toProtoCaller(callerOfOrganization(organizationId, "live")), actor: user._id };
  const created = await dashboard.createApiKey({ caller, name: "Billing", scopes: ["entities:read"] });
  expect(created.value).toMatch(/^svc_live_/);
  expect(created.key).toMatchObject({ name: "Billing", createdBy: user._id, scopes: ["entities:read"] });
  const { keys } = await dashboard.listApiKeys({ caller });
  expect(keys).toMatchObject([{ id: created.key!.id, createdByEmail: credentials.email }]);
  const { key: next, rolled } = await dashboard.rollApiKey({ caller, keyId: created.key!.id, overlapSeconds: 60 });
  expect(next).toMatchObject({ name: "Billing", scopes: ["entities:read"] });
  expect(rolled).toMatchObject({ id: created.key!.id, rolledTo: next!.id });
  expect(rolled!.expiresAt).toBeDefined();
  expect((await dashboard.revokeApiKey({ caller, keyId: created.key!.id })).key!.revokedAt).toBeDefined();

  const { secret: before } = await dashboard.getWebhookSecret({ caller });
  const { secret: after } = await dashboard.rotateWebhookSecret({ caller });
  expect(after!.previousValidUntil).toBeDefined();
  const tenant = toProtoTenant({ organizationId, environment: "live" });
  const { secrets } = await clients["webhook-dispatcher"]!.getSigningSecrets({ tenant });
  expect(secrets).toEqual([after!.value, before!.value]);
  expect((await dashboard.endPreviousWebhookSecret({ caller })).secret!.value).toBe("");
  expect((await clients["webhook-dispatcher"]!.getSigningSecrets({ tenant })).secrets).toEqual([after!.value]);

  await dashboard.signOut({ sessionToken });
  await expect(dashboard.getSession({ sessionToken })).rejects.toMatchObject({ code: "unauthorized" });
});

test("webhook-dispatcher alone reports what users have it do", async () => {
  const { _id: organizationId } = await account.organization();
  const caller = toProtoCaller(callerOfOrganization(organizationId, "live"));
  const entry = { caller, action: "webhook_test.sent", target: "dlv_1", details: { host: "acme.example" } };
  await clients["webhook-dispatcher"]!.appendAuditEntry(entry);
  for (const name of ["gateway", "dashboard", "monitor"])
    await expect(clients[name]!.appendAuditEntry(entry)).rejects.toMatchObject({ code: "forbidden" });
  const found = await account.domain.store.auditLog.find({ action: "webhook_test.sent" }).sort({ _id: 1 }).toArray();
  expect(found).toMatchObject([{ organization_id: organizationId, details: { host: "acme.example" } }]);
});

test("a gateway gets a key's record by any of its hashes, and not_found for what is no key's", async () => {
  const gateway = clients.gateway!;
  const { _id } = await account.organization("starter");
  const { key, value } = await account.domain.createApiKey(callerOfOrganization(_id, "sandbox"), { name: "a" });
  const hashes = hashApiKey(account.apiKeyPeppers, value).map(({ hash }) => hash);
  const { key: record } = await gateway.getApiKey({ hashes: [Buffer.alloc(32), ...hashes] });
  expect(record).toMatchObject({ id: key._id, pepperId: "p1", limitPerMinute: 100, organizationSuspended: false });
  await expect(gateway.getApiKey({ hashes: [Buffer.alloc(32)] })).rejects.toMatchObject({ code: "not_found" });
});

test("a gateway that watches hears of a revocation over gRPC", async () => {
  const caller = callerOfOrganization((await account.organization())._id, "live");
  const { key } = await account.domain.createApiKey(caller, { name: "a" });
  const seen: string[] = [];
  for await (const { step } of clients.gateway!.watchApiKeys({})) {
    if (step.case === "snapshotDone") await account.domain.revokeApiKey(caller, key._id);
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
  ["monitor", "getApiKey"],
  ["webhook-dispatcher", "createApiKey"],
] as const)("%s may not call %s", async (caller, method) => {
  await expect(clients[caller]![method]({})).rejects.toMatchObject({ code: "forbidden" });
});

test("no key, password, session token or webhook secret is in the database in clear", async () => {
  const { _id: organizationId } = await account.organization();
  const caller = toProtoCaller(callerOfOrganization(organizationId, "live"));
  const credentials = { email: "clear@example.com", password: "a password in clear" };
  await account.domain.createUser(operator, { organizationId, ...credentials });
  const dashboard = clients.dashboard!;
  const { sessionToken } = await dashboard.signIn({ ...credentials, clientAddress: "203.0.113.10" });
  await expect(
    dashboard.signIn({ email: credentials.password, password: credentials.password, clientAddress: "203.0.113.10" }),
  ).rejects.toMatchObject({ code: "unauthorized" });
  const { value } = await dashboard.createApiKey({ caller, name: "a" });
  const { secret: first } = await dashboard.getWebhookSecret({ caller });
  const { secret: second } = await dashboard.rotateWebhookSecret({ caller });

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
