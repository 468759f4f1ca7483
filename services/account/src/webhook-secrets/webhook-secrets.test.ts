import { beforeEach, describe, expect, test } from "@jest/globals";
import type { CallerContext } from "@vvs/tenant";
import { createAccountDomain } from "../domain.ts";
import { callerOfOrganization, testAccount, testKey } from "../testing/account.ts";
import { newWebhookSecret, OVERLAP_MS } from "./secret-rotation.ts";

const account = await testAccount();
let live: CallerContext;
let sandbox: CallerContext;

beforeEach(async () => {
  const { _id } = await account.organization();
  live = callerOfOrganization(_id, "live");
  sandbox = callerOfOrganization(_id, "sandbox");
});

const signing = () => account.domain.webhookSecrets.getSigning(live.tenant);

test("a rotation keeps the old secret for 24 h, and returns until when", async () => {
  const [old] = await signing();
  const others = await account.domain.webhookSecrets.getSigning(sandbox.tenant);
  const rotated = await account.domain.webhookSecrets.rotate(live, { endPreviousNow: false });
  expect(rotated.previousValidUntil).toEqual(new Date(account.clock.now.getTime() + OVERLAP_MS));
  expect(await signing()).toEqual([rotated.value, old]);
  expect(await account.domain.webhookSecrets.getSigning(sandbox.tenant)).toEqual(others);
  account.advance(OVERLAP_MS);
  expect(await signing()).toEqual([rotated.value]);
  expect(await account.domain.webhookSecrets.get(live)).not.toHaveProperty("previousValidUntil");
});

test("a rotation that ends the old secret immediately deletes it from the database", async () => {
  await account.domain.webhookSecrets.rotate(live, { endPreviousNow: false });
  const rotated = await account.domain.webhookSecrets.rotate(live, { endPreviousNow: true });
  expect(await signing()).toEqual([rotated.value]);
  expect(
    await account.domain.store.webhookSecrets.findOne({
      organization_id: live.tenant.organizationId,
      environment: "live",
    }),
  ).not.toHaveProperty("previous");
});

test("the old secret of a rotation can be ended at any time, and the current one still signs", async () => {
  const { value } = await account.domain.webhookSecrets.rotate(live, { endPreviousNow: false });
  const ended = await account.domain.webhookSecrets.endPrevious(live);
  expect(ended).not.toHaveProperty("previousValidUntil");
  expect(ended).not.toHaveProperty("value");
  expect(await signing()).toEqual([value]);
  await account.domain.webhookSecrets.endPrevious(live);
  const entries = { organization_id: live.tenant.organizationId, action: "webhook_secret.previous_ended" } as const;
  expect(await account.domain.store.auditLog.countDocuments(entries)).toBe(1);
});

test("one of several concurrent rotations takes effect, and the secret that receivers have still signs", async () => {
  const [old] = await signing();
  const rotations = await Promise.allSettled(
    Array.from({ length: 5 }, () => account.domain.webhookSecrets.rotate(live, { endPreviousNow: false })),
  );
  const made = rotations.flatMap((each) => (each.status === "fulfilled" ? [each.value.value] : []));
  expect(await signing()).toEqual([...made, old]);
});

test("while two secrets sign, a third is refused that would end the previous one without a word", async () => {
  await account.domain.webhookSecrets.rotate(live, { endPreviousNow: false });
  const both = await signing();
  const until = new Date(account.clock.now.getTime() + OVERLAP_MS).toISOString().slice(0, 16).replace("T", " ");
  const message = expect.stringContaining(`The previous secret still signs until ${until} UTC. End it first`);
  const refused = { code: "invalid_request", message };
  const { webhookSecrets } = account.domain;
  await expect(webhookSecrets.rotate(live, { endPreviousNow: false })).rejects.toMatchObject(refused);
  const own = { value: newWebhookSecret(), endPreviousNow: false };
  await expect(webhookSecrets.set(live, own)).rejects.toMatchObject(refused);
  expect(await signing()).toEqual(both);
  account.advance(OVERLAP_MS);
  await webhookSecrets.set(live, own);
  expect(await signing()).toEqual([own.value, both[0]]);
});

test("a repeated rotation is refused, and leaves both secrets of the first one", async () => {
  const [old] = await signing();
  const form = { endPreviousNow: false, submission: "form-1" };
  const rotate = () => account.domain.webhookSecrets.rotate(live, form);
  const outcomes = await Promise.allSettled([rotate(), rotate()]);
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  await expect(rotate()).rejects.toMatchObject({ code: "idempotency_conflict" });
  const both = await signing();
  expect([both.length, both[1]]).toEqual([2, old]);
  account.advance(OVERLAP_MS);
  await account.domain.webhookSecrets.rotate(live, { ...form, submission: "form-2" });
  const value = newWebhookSecret();
  const late = account.domain.webhookSecrets.set(live, { value, ...form });
  await expect(late).rejects.toMatchObject({ code: "idempotency_conflict" });
  expect((await signing())[1]).toBe(both[0]);
});

describe("a secret that a user chose", () => {
  test("is set while the old one stays valid, and setting it again only ends the old one, if that is wanted", async () => {
    const [old] = await signing();
    const { store, webhookSecrets } = account.domain;
    const value = newWebhookSecret();
    const first = await webhookSecrets.set(live, { value, endPreviousNow: false });
    expect(await webhookSecrets.set(live, { value, endPreviousNow: false })).toEqual(first);
    expect(await signing()).toEqual([value, old]);
    for (let n = 0; n < 2; n++) await webhookSecrets.set(live, { value, endPreviousNow: true });
    expect(await signing()).toEqual([value]);
    const own = { organization_id: live.tenant.organizationId, action: /^webhook_secret/ };
    const entries = await store.auditLog.find(own).sort({ _id: 1 }).toArray();
    expect(entries.map(({ action }) => action)).toEqual(["webhook_secret.set", "webhook_secret.previous_ended"]);
  });

  test("of the wrong form is refused and changes nothing", async () => {
    const before = await signing();
    const refused = account.domain.webhookSecrets.set(live, { value: "whsec_short", endPreviousNow: true });
    await expect(refused).rejects.toMatchObject({ code: "invalid_request", details: [{ path: "value" }] });
    expect(await signing()).toEqual(before);
  });
});

test("the times of a secret are returned without its value and without an audit entry", async () => {
  const { value, ...rotated } = await account.domain.webhookSecrets.rotate(live, { endPreviousNow: false });
  expect(await account.domain.webhookSecrets.describe(live.tenant)).toEqual(rotated);
  const shown = await account.domain.store.auditLog.countDocuments({
    organization_id: live.tenant.organizationId,
    action: "webhook_secret.shown",
  });
  expect(shown).toBe(0);
  expect(value).toMatch(/^whsec_/);
});

test("every display and every change is audited, without the secret", async () => {
  await account.domain.webhookSecrets.get(live);
  const { value } = await account.domain.webhookSecrets.rotate(live, { endPreviousNow: false });
  await account.domain.webhookSecrets.set(live, { value: newWebhookSecret(), endPreviousNow: true });
  const entries = await account.domain.store.auditLog
    .find({ organization_id: live.tenant.organizationId, environment: "live" })
    .sort({ _id: 1 })
    .toArray();
  expect(entries.map(({ action }) => action)).toEqual([
    "webhook_secret.shown",
    "webhook_secret.rotated",
    "webhook_secret.set",
  ]);
  expect(JSON.stringify(entries)).not.toContain(value);
});

test("secrets encrypted with an older key stay readable, and new ones are encrypted with the newest", async () => {
  const before = await signing();
  const rotated = createAccountDomain({
    ...account,
    webhookSecretKeys: [testKey("w2"), ...account.webhookSecretKeys],
    now: () => account.clock.now,
  });
  expect(await rotated.webhookSecrets.getSigning(live.tenant)).toEqual(before);
  await rotated.webhookSecrets.rotate(live, { endPreviousNow: true });
  const stored = await account.domain.store.webhookSecrets.findOne({
    organization_id: live.tenant.organizationId,
    environment: "live",
  });
  expect(stored?.current.sealed.key_id).toBe("w2");
});

test("an encrypted secret that is copied to another tenant can't be decrypted there", async () => {
  const { webhookSecrets } = account.domain.store;
  const stranger = await account.organization();
  const mine = await webhookSecrets.findOne({ organization_id: live.tenant.organizationId, environment: "live" });
  await webhookSecrets.updateOne(
    { organization_id: stranger._id, environment: "live" },
    { $set: { current: mine!.current } },
  );
  const stolen = account.domain.webhookSecrets.getSigning({ organizationId: stranger._id, environment: "live" });
  await expect(stolen).rejects.toThrow();
});

test("an unknown organization has no secret", async () => {
  const nobody = callerOfOrganization("org_01h455vb4pex5vsknk084sn02q", "live");
  await expect(account.domain.webhookSecrets.getSigning(nobody.tenant)).rejects.toMatchObject({ code: "not_found" });
  await expect(account.domain.webhookSecrets.get(nobody)).rejects.toMatchObject({ code: "not_found" });
});
