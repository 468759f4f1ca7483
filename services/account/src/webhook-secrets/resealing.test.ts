import { expect, test } from "@jest/globals";
import { operator } from "../audit/audit.ts";
import { type AccountDomain, createAccountDomain } from "../domain.ts";
import { callerOfOrganization, testAccount, testKey } from "../testing/account.ts";
import { password, people } from "../testing/people.ts";
import { OVERLAP_MS } from "./secret-rotation.ts";

const place = { clientAddress: "203.0.113.7" };
const next = testKey("w2");
const account = await testAccount();
const { newUser, signIn, turnOnApp, codeOf } = people(account);
/** Replicas with another WEBHOOK_SECRET_KEYS, on the same database. */
const replica = (...webhookSecretKeys: ReturnType<typeof testKey>[]): AccountDomain => {
  return createAccountDomain({ ...account, webhookSecretKeys, now: () => account.clock.now });
};

test("after a resealing the old key is not needed: secrets sign, codes sign in, nothing is left", async () => {
  const [old] = account.webhookSecretKeys;
  const { _id: organizationId } = await account.organization();
  const live = callerOfOrganization(organizationId, "live");
  const { value } = await account.domain.webhookSecrets.rotate(live, { endPreviousNow: false });
  const signing = await account.domain.webhookSecrets.getSigning(live.tenant);
  expect(signing).toHaveLength(2);
  const user = await newUser("owner", organizationId);
  const { secret } = await turnOnApp(await signIn(user));
  account.advance(30_000);

  const both = replica(next, old!);
  // Live's two, sandbox's one, the app's, and the mail that tells of the app.
  expect(await both.resealing.run()).toEqual({ renewed: 5, left: 0 });
  expect(await both.resealing.run()).toEqual({ renewed: 0, left: 0 });

  const newKeyOnly = replica(next);
  expect(await newKeyOnly.webhookSecrets.getSigning(live.tenant)).toEqual(signing);
  expect((await newKeyOnly.webhookSecrets.get(live)).value).toBe(value);
  const begun = await newKeyOnly.signIns.signIn({ email: user.email, password, ...place }).catch((step) => step);
  const code = codeOf(secret);
  const { session } = await newKeyOnly.signIns.finish({ secondStepToken: begun.secondStepToken, code, ...place });
  expect(session.email).toBe(user.email);
});

test("a secret that is rotated during a resealing is not overwritten", async () => {
  const newest = testKey("w3");
  const both = replica(newest, next, ...account.webhookSecretKeys);
  const beside = replica(next, newest, ...account.webhookSecretKeys);
  const { _id: organizationId } = await account.organization();
  const live = callerOfOrganization(organizationId, "live");
  const rotations = (async () => {
    let last = "";
    for (let turn = 0; turn < 10; turn++) {
      last = (await beside.webhookSecrets.rotate(live, { endPreviousNow: true })).value;
      await both.resealing.run();
    }
    return last;
  })();
  // A second one runs beside the first, as two operators might.
  await Promise.all([rotations, both.resealing.run(), both.resealing.run()]);
  expect(await both.webhookSecrets.getSigning(live.tenant)).toEqual([await rotations]);
  expect((await both.resealing.run()).left).toBe(0);
});

test("a secret that no key decrypts is reported and left, and a previous secret that has ended is deleted", async () => {
  const stranger = testKey("gone");
  const { _id: organizationId } = await replica(stranger).organizations.create(operator, { name: "A", plan: "growth" });
  const live = callerOfOrganization(organizationId, "live");
  const current = replica(testKey("w4"), next);
  const told = await current.resealing.run();
  expect(told.left).toBeGreaterThanOrEqual(2);
  expect(told.problems).toContain(`webhook_secrets ${organizationId}:live: the ring has no key gone`);

  await replica(next, stranger).webhookSecrets.rotate(live, { endPreviousNow: false });
  const kept = () => account.domain.store.webhookSecrets.countDocuments({ "previous.sealed.key_id": stranger.id });
  await current.resealing.run();
  expect(await kept()).toBe(1);
  account.advance(OVERLAP_MS);
  await current.resealing.run();
  expect(await kept()).toBe(0);
});
