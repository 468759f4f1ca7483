import { randomBytes } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { parseApiKey, scopes } from "@vvs/api-keys";
import { operator } from "../audit/audit.ts";
import { createAccountDomain } from "../domain.ts";
import { callerOfOrganization, testAccount, testKey } from "../testing/account.ts";
import { MAX_ACTIVE_KEYS, MAX_OVERLAP_SECONDS, MAX_OVERLAPPING_KEYS } from "./api-keys.ts";

const account = await testAccount();

async function newOrganization() {
  const { _id } = await account.organization();
  return { id: _id, live: callerOfOrganization(_id, "live"), sandbox: callerOfOrganization(_id, "sandbox") };
}

describe("creating a key", () => {
  test("returns its value for its environment once, and stores nothing that can be used as a key", async () => {
    const { live, sandbox } = await newOrganization();
    const { key, value } = await account.domain.apiKeys.create(live, { name: " Billing " });
    expect(parseApiKey(value)).toEqual({ environment: "live" });
    expect(key).toMatchObject({ name: "Billing", scopes, created_by: "test", environment: "live" });
    expect(value.startsWith(key.start) && value.endsWith(key.last_four)).toBe(true);
    expect(JSON.stringify(await account.domain.apiKeys.list(live.tenant))).not.toContain(value);
    const test = await account.domain.apiKeys.create(sandbox, {
      name: "Try",
      scopes: ["monitors:read", "entities:read"],
    });
    expect(parseApiKey(test.value)).toEqual({ environment: "sandbox" });
    expect(test.key.scopes).toEqual(["entities:read", "monitors:read"]);
  });

  test.each([
    ["an empty name", { name: "  " }, ["name"]],
    ["a name that reorders what follows", { name: "CI\u202e" }, ["name"]],
    ["a name of 101 characters", { name: "x".repeat(101) }, ["name"]],
    ["an unknown scope", { name: "a", scopes: ["entities:read", "entities:delete"] }, ["scopes"]],
    ["an end in the past", { name: "a", expiresAt: new Date("2026-01-01") }, ["expires_at"]],
    ["all of these", { name: "", scopes: ["x"], expiresAt: new Date(0) }, ["name", "scopes", "expires_at"]],
  ])("is refused with %s, with every problem", async (_name, input, paths) => {
    const { live } = await newOrganization();
    await expect(account.domain.apiKeys.create(live, input)).rejects.toMatchObject({
      code: "invalid_request",
      details: paths.map((path) => expect.objectContaining({ path })),
    });
  });

  test("is refused for an unknown or suspended organization", async () => {
    const { id, live } = await newOrganization();
    await account.domain.organizations.suspend(operator, id);
    await expect(account.domain.apiKeys.create(live, { name: "a" })).rejects.toMatchObject({ code: "forbidden" });
    const nobody = callerOfOrganization("org_01h455vb4pex5vsknk084sn02q", "live");
    await expect(account.domain.apiKeys.create(nobody, { name: "a" })).rejects.toMatchObject({ code: "not_found" });
  });
});

test("the list has every key that works, however many ended after its creation", async () => {
  const { live } = await newOrganization();
  const { key } = await account.domain.apiKeys.create(live, { name: "old" });
  const many = Array.from({ length: 1_001 }, (_, n) => ({
    ...key,
    _id: `${key._id}_${n}`,
    hash: randomBytes(32),
    created_at: new Date(key.created_at.getTime() + n + 1),
    ...(n % 2 ? { revoked_at: key.created_at } : { expires_at: key.created_at }),
  }));
  await account.domain.store.apiKeys.insertMany(many);
  const listed = (await account.domain.apiKeys.list(live.tenant)).map(({ _id }) => _id);
  const newest = many.slice(1).map(({ _id }) => _id);
  expect(listed).toEqual([key._id, ...newest.reverse()]);
});

describe("the cap of active keys", () => {
  test("holds for concurrent creations by two replicas, separately for each environment", async () => {
    const { live, sandbox } = await newOrganization();
    const replica = createAccountDomain({ ...account, now: () => account.clock.now });
    const left = 4;
    for (let n = left; n < MAX_ACTIVE_KEYS; n++) await account.domain.apiKeys.create(live, { name: "a" });
    const attempts = Array.from({ length: 3 * left }, (_, n) =>
      (n % 2 ? replica : account.domain).apiKeys.create(live, { name: `key ${n}` }),
    );
    const outcomes = (await Promise.allSettled(attempts)).map((outcome) =>
      outcome.status === "rejected" ? outcome.reason.code : "created",
    );
    expect(outcomes.toSorted()).toEqual([...Array(left).fill("created"), ...Array(2 * left).fill("limit_exceeded")]);
    expect(await account.domain.apiKeys.list(live.tenant)).toHaveLength(MAX_ACTIVE_KEYS);
    await expect(account.domain.apiKeys.create(sandbox, { name: "other" })).resolves.toBeDefined();
  });

  test("counts neither revoked nor expired keys", async () => {
    const { live } = await newOrganization();
    const expiresAt = new Date(account.clock.now.getTime() + 60_000);
    for (let n = 0; n < MAX_ACTIVE_KEYS - 1; n++) await account.domain.apiKeys.create(live, { name: "a" });
    await account.domain.apiKeys.create(live, { name: "soon over", expiresAt });
    await expect(account.domain.apiKeys.create(live, { name: "a" })).rejects.toMatchObject({ code: "limit_exceeded" });
    account.advance(60_000);
    const { key } = await account.domain.apiKeys.create(live, { name: "a" });
    await account.domain.apiKeys.revoke(live, key._id);
    await expect(account.domain.apiKeys.create(live, { name: "a" })).resolves.toBeDefined();
  });
});

describe("rolling a key", () => {
  const HOUR_SECONDS = 3_600;

  test("creates one of the same name and scopes, and the old one ends after the overlap", async () => {
    const { live } = await newOrganization();
    const scopes = ["entities:read", "monitors:read"];
    const { key: before, value } = await account.domain.apiKeys.create(live, { name: "Billing", scopes });
    const roll = await account.domain.apiKeys.roll(live, { keyId: before._id, overlapSeconds: HOUR_SECONDS });
    expect(parseApiKey(roll.value)).toEqual({ environment: "live" });
    expect(roll.value).not.toBe(value);
    expect(roll.key).toMatchObject({ name: "Billing", scopes, created_by: "test" });
    expect(roll.key.expires_at).toBeUndefined();
    const at = account.clock.now;
    const ends = new Date(at.getTime() + HOUR_SECONDS * 1000);
    expect(roll.rolled).toMatchObject({ rolled_at: at, rolled_to: roll.key._id, expires_at: ends });
    expect(roll.rolled.revoked_at).toBeUndefined();
    expect(await account.domain.apiKeys.find(value)).toEqual(roll.rolled);
  });

  test("ends the old one immediately if there is no overlap", async () => {
    const { live } = await newOrganization();
    const { key } = await account.domain.apiKeys.create(live, { name: "a" });
    const { rolled } = await account.domain.apiKeys.roll(live, { keyId: key._id, overlapSeconds: 0 });
    expect(rolled.revoked_at).toEqual(account.clock.now);
  });

  test("never extends the expiry of the old key", async () => {
    const { live } = await newOrganization();
    const expiresAt = new Date(account.clock.now.getTime() + 60_000);
    const { key } = await account.domain.apiKeys.create(live, { name: "a", expiresAt });
    const later = new Date(account.clock.now.getTime() + 90 * 24 * HOUR_SECONDS * 1000);
    const input = { keyId: key._id, overlapSeconds: HOUR_SECONDS, expiresAt: later };
    const roll = await account.domain.apiKeys.roll(live, input);
    expect([roll.rolled.expires_at, roll.key.expires_at]).toEqual([expiresAt, later]);
  });

  test("is in the audit log for both keys", async () => {
    const { id, live } = await newOrganization();
    const { key: before } = await account.domain.apiKeys.create(live, { name: "a", scopes: ["entities:read"] });
    const { key } = await account.domain.apiKeys.roll(live, { keyId: before._id, overlapSeconds: HOUR_SECONDS });
    const ofKeys = { organization_id: id, action: /^api_key/ };
    const entries = await account.domain.store.auditLog.find(ofKeys).sort({ _id: 1 }).toArray();
    expect(entries.map(({ action, target, details }) => [action, target, details])).toEqual([
      ["api_key.created", before._id, { name: "a", scopes: "entities:read" }],
      ["api_key.created", key._id, { name: "a", scopes: "entities:read" }],
      ["api_key.rolled", before._id, { rolled_to: key._id, overlap_seconds: HOUR_SECONDS }],
    ]);
  });

  test("takes effect once: of several concurrent attempts one creates a key", async () => {
    const { live } = await newOrganization();
    const { key } = await account.domain.apiKeys.create(live, { name: "a" });
    const roll = () => account.domain.apiKeys.roll(live, { keyId: key._id, overlapSeconds: HOUR_SECONDS });
    const outcomes = await Promise.allSettled([roll(), roll(), roll()]);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await account.domain.apiKeys.list(live.tenant)).toHaveLength(2);
    const again = { code: "invalid_request", message: expect.stringContaining("rolled before") };
    await expect(roll()).rejects.toMatchObject(again);
  });

  test("is refused for ended keys, other tenants' keys, and overlaps out of range", async () => {
    const { live, sandbox } = await newOrganization();
    const revoked = (await account.domain.apiKeys.create(live, { name: "a" })).key;
    await account.domain.apiKeys.revoke(live, revoked._id);
    const expiresAt = new Date(account.clock.now.getTime() + 1_000);
    const expired = (await account.domain.apiKeys.create(live, { name: "a", expiresAt })).key;
    account.advance(1_000);
    for (const { _id: keyId } of [revoked, expired]) {
      const ended = { code: "invalid_request", message: expect.stringContaining("has ended") };
      await expect(account.domain.apiKeys.roll(live, { keyId, overlapSeconds: 0 })).rejects.toMatchObject(ended);
    }
    const { _id: keyId } = (await account.domain.apiKeys.create(live, { name: "a" })).key;
    const absent = { code: "not_found", message: "There is no such API key." };
    await expect(account.domain.apiKeys.roll(sandbox, { keyId, overlapSeconds: 0 })).rejects.toMatchObject(absent);
    const other = (await newOrganization()).live;
    await expect(account.domain.apiKeys.roll(other, { keyId, overlapSeconds: 0 })).rejects.toMatchObject(absent);
    for (const overlapSeconds of [-1, 0.5, MAX_OVERLAP_SECONDS + 1]) {
      const refusal = { code: "invalid_request", details: [expect.objectContaining({ path: "overlap_seconds" })] };
      await expect(account.domain.apiKeys.roll(live, { keyId, overlapSeconds })).rejects.toMatchObject(refusal);
    }
    expect((await account.domain.apiKeys.list(live.tenant)).filter(({ rolled_at }) => rolled_at)).toEqual([]);
  });

  test("does not count for the cap of active keys, and has its own cap", async () => {
    const { live } = await newOrganization();
    const created = [];
    for (let n = 0; n < MAX_ACTIVE_KEYS; n++)
      created.push((await account.domain.apiKeys.create(live, { name: "a" })).key);
    let newest = created[0]!;
    for (let n = 0; n < MAX_OVERLAPPING_KEYS; n++) {
      newest = (await account.domain.apiKeys.roll(live, { keyId: newest._id, overlapSeconds: HOUR_SECONDS })).key;
    }
    const roll = (overlapSeconds: number) => account.domain.apiKeys.roll(live, { keyId: newest._id, overlapSeconds });
    await expect(roll(HOUR_SECONDS)).rejects.toMatchObject({ code: "limit_exceeded" });
    await expect(account.domain.apiKeys.create(live, { name: "a" })).rejects.toMatchObject({ code: "limit_exceeded" });
    await expect(roll(0)).resolves.toBeDefined();
  });
});

test("one form creates one key, even if it is sent repeatedly and to several replicas", async () => {
  const { live, sandbox } = await newOrganization();
  const form = { name: "a", submission: "form-1" };
  const outcomes = await Promise.allSettled([1, 2, 3].map(() => account.domain.apiKeys.create(live, form)));
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  for (const outcome of outcomes) {
    if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "idempotency_conflict" });
  }
  const [key] = await account.domain.apiKeys.list(live.tenant);
  const roll = { keyId: key!._id, overlapSeconds: 0, submission: "form-1" };
  await expect(account.domain.apiKeys.roll(live, roll)).rejects.toMatchObject({ code: "idempotency_conflict" });
  expect(await account.domain.apiKeys.list(live.tenant)).toEqual([key]);
  await expect(account.domain.apiKeys.create(sandbox, form)).resolves.toBeDefined();
});

describe("another tenant's key", () => {
  test("does not exist for the caller, whether of another organization or of the other environment", async () => {
    const { live, sandbox } = await newOrganization();
    const other = await newOrganization();
    const { key } = await account.domain.apiKeys.create(live, { name: "mine" });
    const absent = { code: "not_found", message: "There is no such API key." };
    await expect(account.domain.apiKeys.revoke(other.live, key._id)).rejects.toMatchObject(absent);
    await expect(account.domain.apiKeys.revoke(sandbox, key._id)).rejects.toMatchObject(absent);
    await expect(account.domain.apiKeys.revoke(live, "key_nothing")).rejects.toMatchObject(absent);
    expect(await account.domain.apiKeys.list(other.live.tenant)).toEqual([]);
    expect(await account.domain.apiKeys.list(sandbox.tenant)).toEqual([]);
  });
});

test("revoking is repeatable, keeps the first time, and is in the audit log once", async () => {
  const { id, live } = await newOrganization();
  const { key } = await account.domain.apiKeys.create(live, { name: "a" });
  const first = await account.domain.apiKeys.revoke(live, key._id);
  account.advance(1_000);
  expect((await account.domain.apiKeys.revoke(live, key._id)).revoked_at).toEqual(first.revoked_at);
  const ofKey = { organization_id: id, target: key._id };
  const entries = await account.domain.store.auditLog.find(ofKey).sort({ _id: 1 }).toArray();
  expect(entries.map(({ action, actor, environment, request_id }) => [action, actor, environment, request_id])).toEqual(
    [
      ["api_key.created", "test", "live", "req_test"],
      ["api_key.revoked", "test", "live", "req_test"],
    ],
  );
});

test("a key is still found while its pepper rotates", async () => {
  const { live } = await newOrganization();
  const { key, value } = await account.domain.apiKeys.create(live, { name: "a" });
  const rotated = createAccountDomain({
    ...account,
    apiKeyPeppers: [testKey("p2"), ...account.apiKeyPeppers],
    now: () => account.clock.now,
  });
  expect((await rotated.apiKeys.find(value))?._id).toBe(key._id);
  expect((await rotated.apiKeys.create(live, { name: "b" })).key.pepper_id).toBe("p2");
  expect(await rotated.apiKeys.find(value.slice(0, -1))).toBeUndefined();
});
