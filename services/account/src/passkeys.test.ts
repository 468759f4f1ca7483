import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { operator } from "./audit.ts";
import type { SessionCaller } from "./own-sessions.ts";
import { CHALLENGE_MS, MAX_OPEN } from "./passkey-challenges.ts";
import { MAX_PASSKEYS } from "./passkeys.ts";
import { createAccountDomain } from "./provision.ts";
import { sessionId } from "./sessions.ts";
import type { UserDocument } from "./store.ts";
import { createTestAccount, type TestAccount } from "./test-account.ts";
import { type Misbehaviour, type TestAuthenticator, testAuthenticator } from "./test-authenticator.ts";

const password = "correct horse battery";
const place = { clientAddress: "203.0.113.9", userAgent: "Firefox" };
const refusedSignIn = { code: "unauthorized", message: "This passkey does not sign in here, or it took too long." };
const refusedResponse = { code: "invalid_request", details: [expect.objectContaining({ path: "response" })] };

let account: TestAccount;
let users = 0;
let user: UserDocument;
let caller: SessionCaller;
let device: TestAuthenticator;

beforeAll(async () => {
  account = await createTestAccount(process.env.MONGODB_URI!);
});

beforeEach(async () => {
  const { _id: organizationId } = await account.organization();
  const email = `user-${++users}@example.com`;
  user = await account.domain.createUser(operator, { organizationId, email, password });
  caller = await signedIn(user);
  device = testAuthenticator(account.dashboardUrl.origin);
});

afterAll(() => account.close());

async function signedIn({ email }: UserDocument): Promise<SessionCaller> {
  const { token } = await account.domain.signIn({ email, password, ...place });
  return { token, ...place, requestId: "req_test" };
}

async function addPasskey(name = "Laptop", by = device) {
  const response = by.create(await account.domain.beginPasskeyRegistration(caller));
  return account.domain.addPasskey(caller, { name, response });
}

async function signIn(misbehaviour?: Misbehaviour) {
  const { ceremonyToken, options } = await account.domain.beginPasskeySignIn(place.clientAddress);
  const response = device.get(options, misbehaviour);
  return account.domain.signInWithPasskey({ ceremonyToken, response, ...place });
}

async function actions() {
  const entries = await account.domain.store.auditLog.find({ actor: user._id }).sort({ _id: 1 }).toArray();
  return entries.map(({ action, details }) => [action, details]);
}

describe("a passkey", () => {
  test("is added, signs in, shows when it did, and is removed, all of it audited", async () => {
    const added = await addPasskey(" Laptop ");
    expect(added).toMatchObject({ name: "Laptop", user_id: user._id });
    account.advance(1_000);
    const { token, session } = await signIn();
    expect(session).toMatchObject({ userId: user._id, email: user.email, authenticatedAt: account.clock.now });
    expect(await account.domain.getSession(token)).toEqual(session);
    const [listed] = await account.domain.listPasskeys(caller);
    expect(listed).toMatchObject({ _id: added._id, last_used_at: account.clock.now });
    await account.domain.removePasskey(caller, added._id);
    await account.domain.removePasskey(caller, added._id);
    expect(await account.domain.listPasskeys(caller)).toEqual([]);
    await expect(signIn()).rejects.toMatchObject(refusedSignIn);
    expect(await actions()).toEqual([
      ["user.signed_in", undefined],
      ["user.passkey_added", { name: "Laptop" }],
      ["user.signed_in", { passkey: "Laptop" }],
      ["user.passkey_removed", { name: "Laptop" }],
    ]);
  });

  test("is asked to be kept by its device and to verify its user, for this site alone", async () => {
    await addPasskey();
    const creation = JSON.parse(await account.domain.beginPasskeyRegistration(caller)) as object;
    expect(creation).toMatchObject({
      rp: { id: account.dashboardUrl.hostname },
      user: { name: user.email },
      attestation: "none",
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
      excludeCredentials: [{ id: expect.any(String) }],
    });
    const { options } = await account.domain.beginPasskeySignIn(place.clientAddress);
    const request = JSON.parse(options) as { allowCredentials?: unknown };
    expect(request).toMatchObject({ rpId: account.dashboardUrl.hostname, userVerification: "required" });
    expect(request.allowCredentials).toBeUndefined();
  });

  test("signs in without a code where its user has an authenticator app", async () => {
    await addPasskey();
    await account.domain.store.users.updateOne({ _id: user._id }, { $set: { totp: {} as never } });
    await expect(signIn()).resolves.toMatchObject({ session: { userId: user._id } });
  });

  test("of another user is neither listed, removed, nor proof of who asks", async () => {
    const { _id } = await addPasskey();
    const organizationId = user.organization_id;
    const email = `user-${++users}@example.com`;
    const other = await signedIn(await account.domain.createUser(operator, { organizationId, email, password }));
    expect(await account.domain.listPasskeys(other)).toEqual([]);
    await account.domain.removePasskey(other, _id);
    expect(await account.domain.listPasskeys(caller)).toHaveLength(1);
    const response = device.get(await account.domain.beginPasskeyReauthentication(other));
    await expect(account.domain.reauthenticateWithPasskey(other, response)).rejects.toMatchObject(refusedResponse);
  });

  test("goes with its user, and signs nobody in while the organization is suspended", async () => {
    await addPasskey();
    await account.domain.suspendOrganization(operator, user.organization_id);
    await expect(signIn()).rejects.toMatchObject(refusedSignIn);
    await account.domain.resumeOrganization(operator, user.organization_id);
    await account.domain.createUser(operator, {
      organizationId: user.organization_id,
      email: `user-${++users}@example.com`,
      password,
    });
    const tenant = { organizationId: user.organization_id, environment: "live" } as const;
    await account.domain.removeMember({ tenant, actor: user._id, requestId: "req_test" }, user._id);
    expect(await account.domain.store.passkeys.countDocuments({ user_id: user._id })).toBe(0);
    await expect(signIn()).rejects.toMatchObject(refusedSignIn);
  });

  test("signs nobody in whose organization takes its identity provider’s word alone", async () => {
    await addPasskey();
    const provider = {
      id: "acme",
      organization_id: user.organization_id,
      name: "Acme",
      issuer: "https://id.acme.example",
      client_id: "vvs",
      client_secret: "secret",
      email_domains: ["example.com"],
      required: true,
      offered: false,
    };
    const identityProviders = [provider];
    const domain = createAccountDomain({ ...account, identityProviders, now: () => account.clock.now });
    const { ceremonyToken, options } = await domain.beginPasskeySignIn(place.clientAddress);
    const attempt = domain.signInWithPasskey({ ceremonyToken, response: device.get(options), ...place });
    await expect(attempt).rejects.toMatchObject({ code: "forbidden", message: expect.stringContaining("Acme alone") });
  });

  test("is refused without a name, a second time, and beyond the cap", async () => {
    const options = await account.domain.beginPasskeyRegistration(caller);
    const nameless = account.domain.addPasskey(caller, { name: " ", response: device.create(options) });
    await expect(nameless).rejects.toMatchObject({ details: [expect.objectContaining({ path: "name" })] });
    await addPasskey();
    await expect(addPasskey()).rejects.toMatchObject(refusedResponse);
    for (let n = 1; n < MAX_PASSKEYS; n++) await addPasskey("More", testAuthenticator(account.dashboardUrl.origin));
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
    const response = device.create(await account.domain.beginPasskeyRegistration(caller), misbehaviour);
    await expect(account.domain.addPasskey(caller, { name: "a", response })).rejects.toMatchObject(refusedResponse);
    expect(await account.domain.listPasskeys(caller)).toEqual([]);
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
    "that is none (%j) is refused as any other",
    async (response) => {
      const { ceremonyToken } = await account.domain.beginPasskeySignIn(place.clientAddress);
      const attempt = account.domain.signInWithPasskey({ ceremonyToken, response, ...place });
      await expect(attempt).rejects.toMatchObject(refusedSignIn);
      await expect(account.domain.addPasskey(caller, { name: "a", response })).rejects.toMatchObject(refusedResponse);
    },
  );

  test("of a passkey by another one’s signature signs nobody in", async () => {
    await addPasskey();
    const impostor = testAuthenticator(account.dashboardUrl.origin);
    const { ceremonyToken, options } = await account.domain.beginPasskeySignIn(place.clientAddress);
    const [passkey] = await account.domain.listPasskeys(caller);
    const forged = { ...(JSON.parse(impostor.get(options)) as object), id: passkey!.credential_id };
    const response = JSON.stringify({ ...forged, rawId: passkey!.credential_id });
    const attempt = account.domain.signInWithPasskey({ ceremonyToken, response, ...place });
    await expect(attempt).rejects.toMatchObject(refusedSignIn);
  });
});

describe("a challenge", () => {
  test("counts once: the same answer again is refused, also where both come at once", async () => {
    await addPasskey();
    const { ceremonyToken, options } = await account.domain.beginPasskeySignIn(place.clientAddress);
    const response = device.get(options);
    const attempt = () => account.domain.signInWithPasskey({ ceremonyToken, response, ...place });
    const outcomes = await Promise.allSettled([attempt(), attempt()]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    await expect(attempt()).rejects.toMatchObject(refusedSignIn);
  });

  test("is used up by an answer that is wrong", async () => {
    await addPasskey();
    const { ceremonyToken, options } = await account.domain.beginPasskeySignIn(place.clientAddress);
    const attempt = (misbehaviour: Misbehaviour) =>
      account.domain.signInWithPasskey({ ceremonyToken, response: device.get(options, misbehaviour), ...place });
    await expect(attempt({ verified: false })).rejects.toMatchObject(refusedSignIn);
    await expect(attempt({})).rejects.toMatchObject(refusedSignIn);
  });

  test("counts for 5 minutes", async () => {
    await addPasskey();
    const { ceremonyToken, options } = await account.domain.beginPasskeySignIn(place.clientAddress);
    account.advance(CHALLENGE_MS);
    const attempt = account.domain.signInWithPasskey({ ceremonyToken, response: device.get(options), ...place });
    await expect(attempt).rejects.toMatchObject(refusedSignIn);
  });

  test("counts for the browser it was made for, and for what it was made for", async () => {
    await addPasskey();
    const [mine, thiefs] = [
      await account.domain.beginPasskeySignIn(place.clientAddress),
      await account.domain.beginPasskeySignIn(place.clientAddress),
    ];
    const stolen = { ceremonyToken: thiefs.ceremonyToken, response: device.get(mine.options), ...place };
    await expect(account.domain.signInWithPasskey(stolen)).rejects.toMatchObject(refusedSignIn);
    const response = device.get(mine.options);
    await expect(account.domain.reauthenticateWithPasskey(caller, response)).rejects.toMatchObject(refusedResponse);
    const elsewhere = await signedIn(user);
    const registration = await account.domain.beginPasskeyRegistration(elsewhere);
    const made = testAuthenticator(account.dashboardUrl.origin).create(registration);
    const added = account.domain.addPasskey(caller, { name: "a", response: made });
    await expect(added).rejects.toMatchObject(refusedResponse);
  });

  test("is not given out without end to one client address, and another one’s sign-ins go on", async () => {
    const clientAddress = "2001:db8:1:2::1";
    for (let n = 0; n < MAX_OPEN; n++) await account.domain.beginPasskeySignIn(clientAddress);
    const neighbour = account.domain.beginPasskeySignIn("2001:db8:1:2:ffff::1");
    await expect(neighbour).rejects.toMatchObject({ code: "rate_limited", retryAfterSeconds: expect.any(Number) });
    await expect(account.domain.beginPasskeySignIn("2001:db8:1:3::1")).resolves.toBeDefined();
    account.advance(CHALLENGE_MS);
    await expect(account.domain.beginPasskeySignIn(clientAddress)).resolves.toBeDefined();
  });

  test("is stored as its hash alone", async () => {
    const { options } = await account.domain.beginPasskeySignIn(place.clientAddress);
    const { challenge } = JSON.parse(options) as { challenge: string };
    const stored = await account.domain.store.passkeyChallenges.find().toArray();
    expect(JSON.stringify(stored)).not.toContain(challenge);
  });
});

test("a passkey proves again that its user is there: the session goes on under a new token", async () => {
  await addPasskey();
  account.advance(3_600_000);
  const options = await account.domain.beginPasskeyReauthentication(caller);
  const [passkey] = await account.domain.listPasskeys(caller);
  expect(JSON.parse(options)).toMatchObject({ allowCredentials: [{ id: passkey!.credential_id }] });
  const { token, session } = await account.domain.reauthenticateWithPasskey(caller, device.get(options));
  expect(session.authenticatedAt).toEqual(account.clock.now);
  expect(await account.domain.getSession(token)).toEqual(session);
  await expect(account.domain.getSession(caller.token)).rejects.toMatchObject({ code: "unauthorized" });
  expect(await account.domain.store.sessions.findOne({ _id: sessionId(token) })).toMatchObject({ user_id: user._id });
  expect((await actions()).at(-1)).toEqual(["user.reauthenticated", { passkey: "Laptop" }]);
});
