import { beforeEach, describe, expect, test } from "@jest/globals";
import { operator } from "../audit/audit.ts";
import { createAccountDomain } from "../domain.ts";
import { createTickets } from "../sessions/one-time-tokens.ts";
import type { SessionCaller } from "../sessions/own-sessions.ts";
import { sessionId } from "../sessions/sessions.ts";
import type { UserDocument } from "../store.ts";
import { onceFound, sharedParts, testAccount } from "../testing/account.ts";
import type { Misbehaviour, TestAuthenticator } from "../testing/authenticator.ts";
import { callerOf, newDevice, password, people } from "../testing/people.ts";
import { createPasskeys, MAX_PASSKEYS } from "./passkeys.ts";
import { CHALLENGE_MS, relyingParty } from "./webauthn.ts";

const place = { clientAddress: "203.0.113.9", userAgent: "Firefox" };
const refusedSignIn = {
  code: "unauthorized",
  message: "This passkey is not registered here, or signing in took too long. Try again.",
};
const refusedResponse = { code: "invalid_request", details: [expect.objectContaining({ path: "response" })] };

const account = await testAccount();
const { newUser, signIn: signedIn, addPasskey: add, entries } = people(account);
let user: UserDocument;
let caller: SessionCaller;
let device: TestAuthenticator;

beforeEach(async () => {
  user = await newUser();
  caller = await signedIn(user);
  device = newDevice(account);
});

const addPasskey = (name = "Laptop", by = device) => add(caller, name, by);

async function signIn(misbehaviour?: Misbehaviour) {
  const { ceremonyToken, options } = await account.domain.passkeySignIns.begin();
  const response = device.get(options, misbehaviour);
  return account.domain.passkeySignIns.signIn({ ceremonyToken, response, ...place });
}

const actions = async () => (await entries({ actor: user._id })).map(({ action, details }) => [action, details]);

/** Passkeys whose user gets a new password after their session was found alive. */
function resetMeanwhile() {
  const parts = sharedParts(account);
  const changed = { email: user.email, password };
  const liveSessions = onceFound(account, () => account.domain.users.setPassword(operator, changed));
  const challenges = createTickets({ ...parts, used: parts.store.passkeyChallenges, lifetimeMs: CHALLENGE_MS });
  const rp = relyingParty(account.dashboardUrl);
  const notices = { tellUser: () => Promise.reject(new Error("told of a change that failed")) };
  return createPasskeys({ ...parts, liveSessions, challenges, notices, rp });
}

describe("a passkey", () => {
  test("is added, signs in, shows its last use, and is removed, all audited", async () => {
    const added = await addPasskey(" Laptop ");
    expect(added).toMatchObject({ name: "Laptop", user_id: user._id });
    account.advance(1_000);
    const { token, session } = await signIn();
    expect(session).toMatchObject({ userId: user._id, email: user.email, authenticatedAt: account.clock.now });
    expect(await account.domain.signIns.getSession(token)).toEqual(session);
    const [listed] = await account.domain.passkeys.list(caller);
    expect(listed).toMatchObject({ _id: added._id, last_used_at: account.clock.now });
    await account.domain.passkeys.remove(caller, added._id);
    await account.domain.passkeys.remove(caller, added._id);
    expect(await account.domain.passkeys.list(caller)).toEqual([]);
    await expect(signIn()).rejects.toMatchObject(refusedSignIn);
    expect(await actions()).toEqual([
      ["user.signed_in", undefined],
      ["user.passkey_added", { name: "Laptop" }],
      ["user.signed_in", { passkey: "Laptop" }],
      ["user.passkey_removed", { name: "Laptop" }],
    ]);
  });

  test("is requested for this site only, stored on a device that verifies its user", async () => {
    await addPasskey();
    const creation = JSON.parse(await account.domain.passkeys.beginRegistration(caller)) as object;
    expect(creation).toMatchObject({
      rp: { id: account.dashboardUrl.hostname },
      user: { name: user.email },
      attestation: "none",
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
      excludeCredentials: [{ id: expect.any(String) }],
    });
    const { options } = await account.domain.passkeySignIns.begin();
    const request = JSON.parse(options) as { allowCredentials?: unknown };
    expect(request).toMatchObject({ rpId: account.dashboardUrl.hostname, userVerification: "required" });
    expect(request.allowCredentials).toBeUndefined();
  });

  test("signs in without a code even if its user has an authenticator app", async () => {
    await addPasskey();
    await account.domain.store.users.updateOne({ _id: user._id }, { $set: { totp: {} as never } });
    await expect(signIn()).resolves.toMatchObject({ session: { userId: user._id } });
  });

  test("of another user is not listed, not removed, and proves nothing", async () => {
    const { _id } = await addPasskey();
    const other = await signedIn(await newUser("owner", user.organization_id));
    expect(await account.domain.passkeys.list(other)).toEqual([]);
    await account.domain.passkeys.remove(other, _id);
    expect(await account.domain.passkeys.list(caller)).toHaveLength(1);
    const response = device.get(await account.domain.passkeySignIns.beginReauthentication(other));
    await expect(account.domain.passkeySignIns.reauthenticate(other, response)).rejects.toMatchObject(refusedResponse);
  });

  test("is deleted with its user, and signs nobody in while the organization is suspended", async () => {
    await addPasskey();
    await account.domain.organizations.suspend(operator, user.organization_id);
    await expect(signIn()).rejects.toMatchObject(refusedSignIn);
    await account.domain.organizations.resume(operator, user.organization_id);
    await newUser("owner", user.organization_id);
    await account.domain.members.remove(callerOf(user), user._id);
    expect(await account.domain.store.passkeys.countDocuments({ user_id: user._id })).toBe(0);
    await expect(signIn()).rejects.toMatchObject(refusedSignIn);
  });

  test("signs nobody in if the organization only signs in with its identity provider", async () => {
    await addPasskey();
    const provider = {
      id: "acme",
      organization_id: user.organization_id,
      name: "Acme",
      issuer: "https://id.acme.example",
      client_id: "vvs",
      client_secret: "secret",
      email_domains: ["example.com"],
      required_claims: {},
      required: true,
      offered: false,
    };
    const identityProviders = [provider];
    const domain = createAccountDomain({ ...account, identityProviders, now: () => account.clock.now });
    const { ceremonyToken, options } = await domain.passkeySignIns.begin();
    const attempt = domain.passkeySignIns.signIn({ ceremonyToken, response: device.get(options), ...place });
    await expect(attempt).rejects.toMatchObject({
      code: "forbidden",
      message: expect.stringContaining("signs in with Acme"),
    });
  });

  test("never exceeds the cap, even if several are added concurrently", async () => {
    const ready = async () => {
      const by = newDevice(account);
      return by.create(await account.domain.passkeys.beginRegistration(caller));
    };
    const last = await Promise.all(Array.from({ length: 5 }, ready));
    for (let n = 0; n < MAX_PASSKEYS - 1; n++) await addPasskey("More", newDevice(account));
    const adding = last.map((response) => account.domain.passkeys.add(caller, { name: "Last", response }));
    const outcomes = (await Promise.allSettled(adding)).map((outcome) =>
      outcome.status === "rejected" ? outcome.reason.code : "added",
    );
    expect(outcomes.toSorted()).toEqual(["added", ...Array(4).fill("limit_exceeded")]);
    expect(await account.domain.passkeys.list(caller)).toHaveLength(MAX_PASSKEYS);
  });

  test("is neither added nor removed by a session that a new password ends meanwhile", async () => {
    const before = await addPasskey();
    const response = newDevice(account).create(await account.domain.passkeys.beginRegistration(caller));
    const added = resetMeanwhile().add(caller, { name: "Thief", response });
    await expect(added).rejects.toMatchObject({ code: "unauthorized" });
    caller = await signedIn(user);
    const removed = resetMeanwhile().remove(caller, before._id);
    await expect(removed).rejects.toMatchObject({ code: "unauthorized" });
    expect(await account.domain.passkeys.list(await signedIn(user))).toMatchObject([{ _id: before._id }]);
  });

  test("is refused without a name, a second time, and beyond the cap", async () => {
    const options = await account.domain.passkeys.beginRegistration(caller);
    const nameless = account.domain.passkeys.add(caller, { name: " ", response: device.create(options) });
    await expect(nameless).rejects.toMatchObject({ details: [expect.objectContaining({ path: "name" })] });
    await addPasskey();
    await expect(addPasskey()).rejects.toMatchObject(refusedResponse);
    for (let n = 1; n < MAX_PASSKEYS; n++) await addPasskey("More", newDevice(account));
    await expect(addPasskey()).rejects.toMatchObject({ code: "limit_exceeded" });
  });
});

const wrongs: readonly [name: string, misbehaviour: Misbehaviour][] = [
  ["of another origin", { origin: "https://dashboard.example.evil.example" }],
  ["of another port", { origin: "https://dashboard.example:8443" }],
  ["for another site", { rpId: "evil.example" }],
  ["without a verified user", { verified: false }],
];

describe("an answer", () => {
  test.each(wrongs)("%s adds no passkey", async (_name, misbehaviour) => {
    const response = device.create(await account.domain.passkeys.beginRegistration(caller), misbehaviour);
    await expect(account.domain.passkeys.add(caller, { name: "a", response })).rejects.toMatchObject(refusedResponse);
    expect(await account.domain.passkeys.list(caller)).toEqual([]);
  });

  test.each([
    ...wrongs,
    ["by a counter that did not go on", { counter: 1 }],
    ["that names another user", { userHandle: "usr_other" }],
  ] as const)("%s signs nobody in", async (_name, misbehaviour) => {
    await addPasskey();
    await expect(signIn(misbehaviour)).rejects.toMatchObject(refusedSignIn);
    await expect(signIn()).resolves.toBeDefined();
  });

  test.each(["", "{}", "null", "[", '{"id":"a","response":{"clientDataJSON":"bm8"}}'])(
    "that is not one (%j) is refused like any other",
    async (response) => {
      const { ceremonyToken } = await account.domain.passkeySignIns.begin();
      const attempt = account.domain.passkeySignIns.signIn({ ceremonyToken, response, ...place });
      await expect(attempt).rejects.toMatchObject(refusedSignIn);
      await expect(account.domain.passkeys.add(caller, { name: "a", response })).rejects.toMatchObject(refusedResponse);
    },
  );

  test("of a passkey with another passkey’s signature signs nobody in", async () => {
    await addPasskey();
    const impostor = newDevice(account);
    const { ceremonyToken, options } = await account.domain.passkeySignIns.begin();
    const [passkey] = await account.domain.passkeys.list(caller);
    const forged = { ...(JSON.parse(impostor.get(options)) as object), id: passkey!.credential_id };
    const response = JSON.stringify({ ...forged, rawId: passkey!.credential_id });
    const attempt = account.domain.passkeySignIns.signIn({ ceremonyToken, response, ...place });
    await expect(attempt).rejects.toMatchObject(refusedSignIn);
  });
});

describe("a challenge", () => {
  test("works once: a repeated answer is refused, even if both come concurrently", async () => {
    await addPasskey();
    const { ceremonyToken, options } = await account.domain.passkeySignIns.begin();
    const response = device.get(options);
    const attempt = () => account.domain.passkeySignIns.signIn({ ceremonyToken, response, ...place });
    const outcomes = await Promise.allSettled([attempt(), attempt()]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    await expect(attempt()).rejects.toMatchObject(refusedSignIn);
  });

  test("is not used up by a wrong answer, which stores nothing", async () => {
    await addPasskey();
    const { ceremonyToken, options } = await account.domain.passkeySignIns.begin();
    const attempt = (misbehaviour: Misbehaviour) =>
      account.domain.passkeySignIns.signIn({ ceremonyToken, response: device.get(options, misbehaviour), ...place });
    const stored = () => account.domain.store.passkeyChallenges.countDocuments();
    const before = await stored();
    await expect(attempt({ verified: false })).rejects.toMatchObject(refusedSignIn);
    expect(await stored()).toBe(before);
    await expect(attempt({})).resolves.toBeDefined();
  });

  test("works for 5 minutes", async () => {
    await addPasskey();
    const { ceremonyToken, options } = await account.domain.passkeySignIns.begin();
    account.advance(CHALLENGE_MS);
    const attempt = account.domain.passkeySignIns.signIn({ ceremonyToken, response: device.get(options), ...place });
    await expect(attempt).rejects.toMatchObject(refusedSignIn);
  });

  test("only works for its browser and its purpose", async () => {
    await addPasskey();
    const [mine, thiefs] = [await account.domain.passkeySignIns.begin(), await account.domain.passkeySignIns.begin()];
    const stolen = { ceremonyToken: thiefs.ceremonyToken, response: device.get(mine.options), ...place };
    await expect(account.domain.passkeySignIns.signIn(stolen)).rejects.toMatchObject(refusedSignIn);
    const response = device.get(mine.options);
    await expect(account.domain.passkeySignIns.reauthenticate(caller, response)).rejects.toMatchObject(refusedResponse);
    const elsewhere = await signedIn(user);
    const registration = await account.domain.passkeys.beginRegistration(elsewhere);
    const made = newDevice(account).create(registration);
    const added = account.domain.passkeys.add(caller, { name: "a", response: made });
    await expect(added).rejects.toMatchObject(refusedResponse);
  });

  test("costs strangers who begin sign-ins without end nothing that others need: nothing is stored or counted", async () => {
    await addPasskey();
    const collections = () =>
      Promise.all(
        [account.domain.store.passkeyChallenges, account.domain.store.signInLimits].map((one) => one.countDocuments()),
      );
    const before = await collections();
    const begun = await Promise.all(Array.from({ length: 500 }, () => account.domain.passkeySignIns.begin()));
    expect(new Set(begun.map(({ options }) => JSON.parse(options).challenge)).size).toBe(500);
    expect(await collections()).toEqual(before);
    const { ceremonyToken, options } = begun[0]!;
    const signedIn = account.domain.passkeySignIns.signIn({ ceremonyToken, response: device.get(options), ...place });
    await expect(signedIn).resolves.toBeDefined();
  });
});

test("a passkey confirms its user's identity, and the session continues under a new token", async () => {
  await addPasskey();
  account.advance(3_600_000);
  const options = await account.domain.passkeySignIns.beginReauthentication(caller);
  const [passkey] = await account.domain.passkeys.list(caller);
  expect(JSON.parse(options)).toMatchObject({ allowCredentials: [{ id: passkey!.credential_id }] });
  const { token, session } = await account.domain.passkeySignIns.reauthenticate(caller, device.get(options));
  expect(session.authenticatedAt).toEqual(account.clock.now);
  expect(await account.domain.signIns.getSession(token)).toEqual(session);
  await expect(account.domain.signIns.getSession(caller.token)).rejects.toMatchObject({ code: "unauthorized" });
  expect(await account.domain.store.sessions.findOne({ _id: sessionId(token) })).toMatchObject({ user_id: user._id });
  expect((await actions()).at(-1)).toEqual(["user.reauthenticated", { passkey: "Laptop" }]);
});
