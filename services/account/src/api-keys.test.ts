import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { parseApiKey, scopes } from "@vvs/api-keys";
import { MAX_ACTIVE_KEYS } from "./api-keys.ts";
import { operator } from "./audit.ts";
import { createAccountDomain } from "./provision.ts";
import { callerOfOrganization, createTestAccount, type TestAccount, testKey } from "./test-account.ts";

let account: TestAccount;

beforeAll(async () => {
  account = await createTestAccount(process.env.MONGODB_URI!);
});

afterAll(() => account.close());

async function newOrganization() {
  const { _id } = await account.organization();
  return { id: _id, live: callerOfOrganization(_id, "live"), sandbox: callerOfOrganization(_id, "sandbox") };
}

describe("creating a key", () => {
  test("gives its value once, of the environment it is for, and keeps only what can't be called with", async () => {
    const { live, sandbox } = await newOrganization();
    const { key, value } = await account.domain.createApiKey(live, { name: " Billing " });
    expect(parseApiKey(value)).toEqual({ environment: "live" });
    expect(key).toMatchObject({ name: "Billing", scopes, created_by: "usr_test", environment: "live" });
    expect(value.startsWith(key.start) && value.endsWith(key.last_four)).toBe(true);
    expect(JSON.stringify(await account.domain.listApiKeys(live.tenant))).not.toContain(value);
    const test = await account.domain.createApiKey(sandbox, {
      name: "Try",
      scopes: ["monitors:read", "entities:read"],
    });
    expect(parseApiKey(test.value)).toEqual({ environment: "sandbox" });
    expect(test.key.scopes).toEqual(["entities:read", "monitors:read"]);
  });

  test.each([
    ["an empty name", { name: "  " }, ["name"]],
    ["a name of 101 characters", { name: "x".repeat(101) }, ["name"]],
    ["an unknown scope", { name: "a", scopes: ["entities:read", "entities:delete"] }, ["scopes"]],
    ["an end in the past", { name: "a", expiresAt: new Date("2026-01-01") }, ["expires_at"]],
    ["all of these", { name: "", scopes: ["x"], expiresAt: new Date(0) }, ["name", "scopes", "expires_at"]],
  ])("is refused with %s, naming every problem", async (_name, input, paths) => {
    const { live } = await newOrganization();
    await expect(account.domain.createApiKey(live, input)).rejects.toMatchObject({
      code: "invalid_request",
      details: paths.map((path) => expect.objectContaining({ path })),
    });
  });

  test("is refused for an unknown or suspended organization", async () => {
    const { id, live } = await newOrganization();
    await account.domain.suspendOrganization(operator, id);
    await expect(account.domain.createApiKey(live, { name: "a" })).rejects.toMatchObject({ code: "forbidden" });
    const nobody = callerOfOrganization("org_01h455vb4pex5vsknk084sn02q", "live");
    await expect(account.domain.createApiKey(nobody, { name: "a" })).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("the cap of active keys", () => {
  test("holds when many are created at once, for each environment by itself", async () => {
    const { live, sandbox } = await newOrganization();
    const attempts = Array.from({ length: MAX_ACTIVE_KEYS + 10 }, (_, n) =>
      account.domain.createApiKey(live, { name: `key ${n}` }),
    );
    const outcomes = await Promise.allSettled(attempts);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(MAX_ACTIVE_KEYS);
    for (const outcome of outcomes) {
      if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "limit_exceeded" });
    }
    expect(await account.domain.listApiKeys(live.tenant)).toHaveLength(MAX_ACTIVE_KEYS);
    await expect(account.domain.createApiKey(sandbox, { name: "other" })).resolves.toBeDefined();
  });

  test("counts neither revoked nor expired keys", async () => {
    const { live } = await newOrganization();
    const expiresAt = new Date(account.clock.now.getTime() + 60_000);
    for (let n = 0; n < MAX_ACTIVE_KEYS - 1; n++) await account.domain.createApiKey(live, { name: "a" });
    await account.domain.createApiKey(live, { name: "soon over", expiresAt });
    await expect(account.domain.createApiKey(live, { name: "a" })).rejects.toMatchObject({ code: "limit_exceeded" });
    account.advance(60_000);
    const { key } = await account.domain.createApiKey(live, { name: "a" });
    await account.domain.revokeApiKey(live, key._id);
    await expect(account.domain.createApiKey(live, { name: "a" })).resolves.toBeDefined();
  });
});

describe("another tenant's key", () => {
  test("is as absent, be it of another organization or of the other environment", async () => {
    const { live, sandbox } = await newOrganization();
    const other = await newOrganization();
    const { key } = await account.domain.createApiKey(live, { name: "mine" });
    const absent = { code: "not_found", message: "There is no such API key." };
    await expect(account.domain.revokeApiKey(other.live, key._id)).rejects.toMatchObject(absent);
    await expect(account.domain.revokeApiKey(sandbox, key._id)).rejects.toMatchObject(absent);
    await expect(account.domain.revokeApiKey(live, "key_nothing")).rejects.toMatchObject(absent);
    expect(await account.domain.listApiKeys(other.live.tenant)).toEqual([]);
    expect(await account.domain.listApiKeys(sandbox.tenant)).toEqual([]);
  });
});

test("revoking is repeatable, keeps the first time, and is told once in the audit log", async () => {
  const { id, live } = await newOrganization();
  const { key } = await account.domain.createApiKey(live, { name: "a" });
  const first = await account.domain.revokeApiKey(live, key._id);
  account.advance(1_000);
  expect((await account.domain.revokeApiKey(live, key._id)).revoked_at).toEqual(first.revoked_at);
  const entries = await account.domain.store.auditLog.find({ organization_id: id, target: key._id }).toArray();
  expect(entries.map(({ action, actor, environment, request_id }) => [action, actor, environment, request_id])).toEqual(
    [
      ["api_key.created", "usr_test", "live", "req_test"],
      ["api_key.revoked", "usr_test", "live", "req_test"],
    ],
  );
});

test("a key stays known while its pepper rotates", async () => {
  const { live } = await newOrganization();
  const { key, value } = await account.domain.createApiKey(live, { name: "a" });
  const rotated = createAccountDomain({
    ...account,
    apiKeyPeppers: [testKey("p2"), ...account.apiKeyPeppers],
    now: () => account.clock.now,
  });
  expect((await rotated.findApiKey(value))?._id).toBe(key._id);
  expect((await rotated.createApiKey(live, { name: "b" })).key.pepper_id).toBe("p2");
  expect(await rotated.findApiKey(value.slice(0, -1))).toBeUndefined();
});
