import { beforeEach, describe, expect, test } from "@jest/globals";
import { isOutcomeUnknown, ServiceError } from "@vvs/errors";
import { CLIENT, type OpenIdAnswers, playOpenIdProvider } from "../../../../test/outside/openid-provider.ts";
import { operator } from "../audit/audit.ts";
import { type AccountDomain, createAccountDomain } from "../domain.ts";
import { INVITATION_MS } from "../organizations/invitations.ts";
import { sharedParts, testAccount, tokenIn } from "../testing/account.ts";
import { newDevice } from "../testing/people.ts";
import { createIdentityProviders, type IdentityProvider } from "./identity-providers.ts";
import { createOpenId } from "./openid.ts";
import { createSingleSignOn, TRIP_MS } from "./single-sign-on.ts";

const PASSWORD = "correct horse";
const place = { clientAddress: "203.0.113.9", userAgent: "Firefox" };
const account = await testAccount();
let people = 0;

const [provider, other] = await Promise.all([playOpenIdProvider(), playOpenIdProvider()]);
beforeEach(() => {
  account.clock.now = new Date();
});

/** Creates an organization that signs in with the simulated provider, and a member of it. */
async function newOrganization(options: Partial<IdentityProvider> = {}) {
  const organization = await account.organization();
  const domainName = `acme${++people}.example`;
  const email = `ada@${domainName}`;
  const user = await account.domain.users.create(operator, {
    organizationId: organization._id,
    email,
    password: PASSWORD,
    role: "developer",
  });
  const configured: IdentityProvider = {
    id: "acme",
    organization_id: organization._id,
    name: "Acme",
    issuer: provider.issuer,
    client_id: CLIENT.id,
    client_secret: CLIENT.secret,
    email_domains: [domainName],
    required_claims: {},
    required: false,
    offered: false,
    ...options,
  };
  const domain = domainOf([configured]);
  const claims = { sub: `sub-${people}`, email, email_verified: true };
  return { organization, user, email, domainName, domain, configured, claims };
}

function domainOf(identityProviders: readonly IdentityProvider[]): AccountDomain {
  return createAccountDomain({ ...account, identityProviders, now: () => account.clock.now });
}

function begin(domain: AccountDomain, providerId = "acme", again = false) {
  const redirectUri = `https://dashboard.example/sign-in/sso/${providerId}/callback`;
  return domain.singleSignOn.begin({ providerId, redirectUri, next: "/live/usage", again });
}

/** Signs in with the answers of the provider. */
async function signIn(domain: AccountDomain, answers: OpenIdAnswers, again = false) {
  provider.answers = answers;
  const { authorizationUrl, browserToken } = await begin(domain, "acme", again);
  const query = provider.queryBack(authorizationUrl);
  return domain.singleSignOn.finish({ browserToken, providerId: "acme", query, ...place });
}

const sessionsOf = (userId: string) => account.domain.store.sessions.countDocuments({ user_id: userId });

test("a user who comes back signed in gets a session as the member with their address, and it is audited", async () => {
  const { domain, user, email, organization, claims } = await newOrganization();
  const { token, session, next } = await signIn(domain, { claims });
  expect(session).toMatchObject({ userId: user._id, email, role: "developer", identityProviderId: "acme" });
  expect(next).toBe("/live/usage");
  expect(await domain.signIns.getSession(token)).toEqual(session);
  const entry = await domain.store.auditLog.findOne({ organization_id: organization._id, action: "user.signed_in" });
  expect(entry).toMatchObject({
    actor: user._id,
    client_address: "203.0.113.9",
    details: { identity_provider: "acme" },
  });
  await domain.signIns.signOut(token);
  await expect(domain.signIns.getSession(token)).rejects.toMatchObject({ code: "unauthorized" });
});

test("the request has PKCE, state and nonce, which differ each time and do not reveal the token", async () => {
  const { domain } = await newOrganization();
  const trips = [await begin(domain), await begin(domain, "acme", true)];
  const [first, second] = trips.map(({ authorizationUrl }) => new URL(authorizationUrl).searchParams);
  for (const name of ["state", "nonce", "code_challenge"]) {
    expect(first!.get(name)).toMatch(/^[\w-]{43,}$/);
    expect(first!.get(name)).not.toBe(second!.get(name));
  }
  expect(new Set(["state", "nonce", "code_challenge"].map((name) => first!.get(name))).size).toBe(3);
  expect([first!.get("code_challenge_method"), first!.get("scope")]).toEqual(["S256", "openid email"]);
  expect([first!.get("prompt"), second!.get("prompt")]).toEqual([null, "login"]);
  for (const { browserToken, authorizationUrl } of trips) expect(authorizationUrl).not.toContain(browserToken);
});

test("strangers who begin sign-ins without end use up nothing that others need: nothing is stored or counted", async () => {
  const { domain, claims } = await newOrganization();
  const { singleSignOns, signInLimits } = domain.store;
  const collections = () => Promise.all([singleSignOns, signInLimits].map((one) => one.countDocuments()));
  const before = await collections();
  await Promise.all(Array.from({ length: 500 }, () => begin(domain)));
  expect(await collections()).toEqual(before);
  await expect(signIn(domain, { claims })).resolves.toBeDefined();
});

describe("nobody is signed in", () => {
  const verified = { email_verified: true };
  test.each<[string, (claims: Record<string, unknown>) => OpenIdAnswers, string?]>([
    ["by a wrong nonce", (claims) => ({ claims: { ...claims, nonce: "another" } })],
    ["without a nonce", (claims) => ({ claims: { ...claims, nonce: undefined } })],
    ["by another issuer's token", (claims) => ({ claims: { ...claims, iss: "https://evil.example" } })],
    ["by a token for another client", (claims) => ({ claims: { ...claims, aud: "another-client" } })],
    ["by an expired token", (claims) => ({ claims: { ...claims, exp: 1_700_000_000 } })],
    ["by a bad signature", (claims) => ({ claims, foreignKey: true })],
    ["by a wrong state", (claims) => ({ claims, back: { state: "another" } }), "has ended"],
    ["without a state", (claims) => ({ claims, back: { state: "" } }), "has ended"],
    ["by an answer in another issuer's name", (claims) => ({ claims, back: { iss: "https://evil.example" } })],
    ["by an answer without an issuer, if the provider sends one", (claims) => ({ claims, back: { iss: "" } })],
    ["by a code that the provider does not know", (claims) => ({ claims, back: { code: "made-up" } })],
    ["by an unverified address", (claims) => ({ claims: { ...claims, email_verified: false } }), "has not verified"],
    [
      "by an address of unknown state",
      (claims) => ({ claims: { ...claims, email_verified: "true" } }),
      "has not verified",
    ],
    [
      "by an address of another domain",
      (claims) => ({ claims: { ...claims, email: "ada@evil.example" } }),
      "can’t sign in ada@evil.example",
    ],
    ["without an address", () => ({ claims: { sub: "x", email: "", ...verified } }), "users without an email address"],
    [
      "whom the provider refused",
      (claims) => ({ claims, back: { error: "access_denied", code: "" } }),
      "did not let you",
    ],
  ])("%s", async (_name, answersOf, sentence = "could not be verified") => {
    const { domain, user, claims } = await newOrganization();
    await expect(signIn(domain, answersOf(claims))).rejects.toMatchObject({
      code: "unauthorized",
      message: expect.stringContaining(sentence),
    });
    expect(await sessionsOf(user._id)).toBe(0);
  });

  test("twice with one answer, in another browser, or after ten minutes", async () => {
    const { domain, claims } = await newOrganization();
    provider.answers = { claims };
    const over = { code: "unauthorized", message: "This sign-in has ended. Sign in again." };
    const { authorizationUrl, browserToken } = await begin(domain);
    const back = { providerId: "acme", query: provider.queryBack(authorizationUrl), ...place };
    await expect(domain.singleSignOn.finish({ ...back, browserToken: `${browserToken}x` })).rejects.toMatchObject(over);
    const both = await Promise.allSettled([1, 2].map(() => domain.singleSignOn.finish({ ...back, browserToken })));
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const late = await begin(domain);
    account.advance(TRIP_MS);
    await expect(
      domain.singleSignOn.finish({
        ...back,
        browserToken: late.browserToken,
        query: provider.queryBack(late.authorizationUrl),
      }),
    ).rejects.toMatchObject(over);
  });

  test("with one provider's answer to another provider's request", async () => {
    const { configured, claims, user } = await newOrganization();
    const evil = await newOrganization();
    const evilProvider = { ...evil.configured, id: "evil", issuer: other.issuer };
    const domain = domainOf([configured, evilProvider]);
    provider.answers = { claims };
    other.answers = { claims };
    const { authorizationUrl, browserToken } = await begin(domain);
    for (const [providerId, from] of [
      ["evil", other],
      ["evil", provider],
      ["acme", other],
    ] as const) {
      const query = from.queryBack(authorizationUrl);
      await expect(domain.singleSignOn.finish({ browserToken, providerId, query, ...place })).rejects.toMatchObject({
        code: "unauthorized",
      });
    }
    expect(await sessionsOf(user._id)).toBe(0);
  });

  test("of another organization, with any address that the provider returns", async () => {
    const { domain, domainName, claims } = await newOrganization({ new_members: "developer" });
    const elsewhere = await account.organization();
    const email = `eve@${domainName}`;
    await account.domain.users.create(operator, { organizationId: elsewhere._id, email, password: PASSWORD });
    await expect(signIn(domain, { claims: { ...claims, email } })).rejects.toMatchObject({
      message: expect.stringContaining("belongs to another account"),
    });
  });

  test("with an address that the provider gave to another person since", async () => {
    const { domain, claims } = await newOrganization();
    await signIn(domain, { claims });
    await expect(signIn(domain, { claims: { ...claims, sub: "somebody-new" } })).rejects.toMatchObject({
      message: expect.stringContaining("belongs to another account"),
    });
  });

  test("of a suspended organization", async () => {
    const { domain, organization, claims } = await newOrganization();
    await domain.organizations.suspend(operator, organization._id);
    await expect(signIn(domain, { claims })).rejects.toMatchObject({ code: "unauthorized" });
  });
});

test("a member who changed their address at the provider is still the same member", async () => {
  const { domain, user, domainName, claims } = await newOrganization();
  await signIn(domain, { claims });
  const { session } = await signIn(domain, { claims: { ...claims, email: `ada.new@${domainName}` } });
  expect(session.userId).toBe(user._id);
});

test("an address that the ID token lacks is requested, and only accepted for the same person", async () => {
  const { domain, user, claims } = await newOrganization();
  const token = { sub: claims.sub };
  const { session } = await signIn(domain, { claims: token, userInfo: claims });
  expect(session.userId).toBe(user._id);
  const refused = signIn(domain, { claims: token, userInfo: { ...claims, sub: "another" } });
  await expect(refused).rejects.toMatchObject({ code: "unauthorized" });
});

describe("a person whom the organization does not know", () => {
  test("becomes a member with the configured role", async () => {
    const { domain, organization, domainName, claims } = await newOrganization({ new_members: "read_only" });
    const email = `new@${domainName}`;
    const { session } = await signIn(domain, { claims: { ...claims, sub: `new-${people}`, email } });
    expect(session).toMatchObject({ organizationId: organization._id, email, role: "read_only" });
  });

  test("is refused if no role is configured", async () => {
    const { domain, domainName, claims } = await newOrganization();
    const stranger = { ...claims, sub: `new-${people}`, email: `new@${domainName}` };
    await expect(signIn(domain, { claims: stranger })).rejects.toMatchObject({
      message: expect.stringContaining("Ask an owner to invite you"),
    });
    expect(await domain.users.find(stranger.email)).toBeUndefined();
  });
});

describe("a member whom an owner removed", () => {
  /** A member by the provider, the owner of their organization, and how the owner removes and invites. */
  async function newMember(options: Partial<IdentityProvider> = {}) {
    const made = await newOrganization({ new_members: "read_only", ...options });
    const { organization, domain, claims, domainName } = made;
    const organizationId = organization._id;
    const ownerEmail = `owner@${domainName}`;
    const owner = await domain.users.create(operator, { organizationId, email: ownerEmail, password: PASSWORD });
    const asOwner = {
      tenant: { organizationId, environment: "live" },
      actor: owner._id,
      requestId: "",
      ...place,
    } as const;
    const { session } = await signIn(domain, { claims });
    return {
      ...made,
      owner,
      remove: () => domain.members.remove(asOwner, session.userId),
      leave: () => domain.members.remove({ ...asOwner, actor: session.userId }, session.userId),
      invite: (email: string) => domain.invitations.create(asOwner, { email, role: "developer" }),
      revoke: (id: string) => domain.invitations.revoke(asOwner, id),
    };
  }
  const refusal = { code: "unauthorized", message: expect.stringContaining("Ask an owner to invite you") };

  test("is refused until an owner invites them, and then has the role of the invitation", async () => {
    const { domain, claims, email, remove, invite, revoke } = await newMember();
    await remove();
    await expect(signIn(domain, { claims })).rejects.toMatchObject(refusal);
    await revoke((await invite(email)).invitation._id);
    await expect(signIn(domain, { claims })).rejects.toMatchObject(refusal);
    await invite(email);
    expect((await signIn(domain, { claims })).session).toMatchObject({ email, role: "developer" });
    expect(await domain.store.invitations.countDocuments({ email })).toBe(0);
    await signIn(domain, { claims });
  });

  test("is known by the provider's subject under another address too, and by the address under another subject", async () => {
    const { domain, claims, domainName, email, remove, invite } = await newMember();
    await remove();
    const renamed = { ...claims, email: `ada.new@${domainName}` };
    await expect(signIn(domain, { claims: renamed })).rejects.toMatchObject(refusal);
    await expect(signIn(domain, { claims: { ...claims, sub: "another" } })).rejects.toMatchObject(refusal);
    await invite(email);
    await expect(signIn(domain, { claims: renamed })).rejects.toMatchObject(refusal);
    await invite(renamed.email);
    expect((await signIn(domain, { claims: renamed })).session.email).toBe(renamed.email);
  });

  test("can only come back with an invitation that has not expired", async () => {
    const { domain, claims, email, remove, invite } = await newMember();
    await remove();
    await invite(email);
    account.advance(INVITATION_MS);
    await expect(signIn(domain, { claims })).rejects.toMatchObject(refusal);
  });

  test("can leave and come back on their own after an accepted invitation", async () => {
    const { domain, claims, email, remove, invite, organization } = await newMember();
    await remove();
    await invite(email);
    const mail = (await account.mailsTo(email)).at(-1);
    await domain.invitations.accept({ token: tokenIn(mail), password: PASSWORD, ...place });
    const { session } = await signIn(domain, { claims });
    expect(session.role).toBe("developer");
    const tenant = { organizationId: organization._id, environment: "live" } as const;
    await domain.members.remove({ tenant, actor: session.userId, requestId: "" }, session.userId);
    expect((await signIn(domain, { claims })).session.role).toBe("read_only");
  });

  test("does not include members who left on their own", async () => {
    const { domain, claims, leave } = await newMember();
    await leave();
    expect((await signIn(domain, { claims })).session.role).toBe("read_only");
  });

  test("includes members whom the operator removed", async () => {
    const { domain, claims, email } = await newMember();
    await domain.operatedUsers.remove(operator, { email });
    await expect(signIn(domain, { claims })).rejects.toMatchObject(refusal);
  });
});

test("if it is required, the right password is refused with an explanation, and a wrong one as usual", async () => {
  const { domain, email, claims } = await newOrganization({ required: true });
  await expect(domain.signIns.signIn({ email, password: PASSWORD, ...place })).rejects.toMatchObject({
    code: "forbidden",
    message: expect.stringContaining("signs in with Acme. Use single sign-on"),
  });
  await expect(domain.signIns.signIn({ email, password: "wrong", ...place })).rejects.toMatchObject({
    code: "unauthorized",
  });
  await signIn(domain, { claims });
});

test("if it is required, neither the password nor a passkey confirms or renews a session that began before", async () => {
  const { domain, email } = await newOrganization({ required: true });
  const before = account.domain;
  const { token } = await before.signIns.signIn({ email, password: PASSWORD, ...place });
  const caller = { token, ...place };
  const device = newDevice(account);
  const response = device.create(await before.passkeys.beginRegistration(caller));
  await before.passkeys.add(caller, { name: "Laptop", response });
  const { ownPassword, passkeySignIns } = domain;
  const answer = device.get(await passkeySignIns.beginReauthentication(caller));
  for (const attempt of [
    () => ownPassword.reauthenticate(caller, PASSWORD),
    () => ownPassword.change(caller, { current: PASSWORD, password: "another horse battery" }),
    () => passkeySignIns.reauthenticate(caller, answer),
  ]) {
    await expect(attempt()).rejects.toMatchObject({
      code: "forbidden",
      message: expect.stringContaining("signs in with Acme"),
    });
  }
  await expect(domain.signIns.getSession(token)).resolves.toMatchObject({ email });
});

describe("confirming the identity", () => {
  const secondsAgo = (seconds: number) => Math.floor(account.clock.now.getTime() / 1000) - seconds;

  test("requires an auth_time since the browser was sent to the provider, which is asked for it", async () => {
    const { domain, claims } = await newOrganization();
    const { searchParams } = new URL((await begin(domain, "acme", true)).authorizationUrl);
    expect([searchParams.get("max_age"), searchParams.get("prompt")]).toEqual(["0", "login"]);
    const told = await signIn(domain, { claims: { ...claims, auth_time: secondsAgo(0) } }, true);
    expect(told.session.authenticatedAt).toEqual(new Date(secondsAgo(0) * 1000));
    const slow = await signIn(domain, { claims: { ...claims, auth_time: secondsAgo(-30) } }, true);
    expect(slow.session.authenticatedAt).toEqual(account.clock.now);
  });

  test.each([
    ["no auth_time", undefined, "make it send the claim auth_time"],
    ["an auth_time of an hour ago", 3600, "Sign out of Acme, and then begin again"],
    ["an auth_time of two minutes before", 120, "Sign out of Acme, and then begin again"],
    ["an auth_time in the future", -3600, "Sign out of Acme, and then begin again"],
  ])("is refused with %s, which says what to do, and begins no session", async (_name, age, sentence) => {
    const { domain, claims, user } = await newOrganization();
    const auth_time = age === undefined ? undefined : secondsAgo(age);
    const attempt = signIn(domain, { claims: { ...claims, auth_time } }, true);
    await expect(attempt).rejects.toMatchObject({ code: "unauthorized", message: expect.stringContaining(sentence) });
    expect(await sessionsOf(user._id)).toBe(0);
  });

  test("does not happen by an ordinary sign-in, unless the provider says when", async () => {
    const { domain, claims } = await newOrganization();
    expect((await signIn(domain, { claims })).session.authenticatedAt).toEqual(new Date(0));
    const hourAgo = secondsAgo(3600);
    const told = await signIn(domain, { claims: { ...claims, auth_time: hourAgo } });
    expect(told.session.authenticatedAt).toEqual(new Date(hourAgo * 1000));
  });
});

describe("at an issuer that organizations share", () => {
  test.each<[string, Record<string, unknown>, Record<string, unknown> | undefined]>([
    ["without the claim", {}, undefined],
    ["with the claim of another organization", { tid: "other" }, undefined],
    ["with the claim in another type", { tid: ["acme"] }, undefined],
    ["with the claim only outside of the ID token", {}, { tid: "acme" }],
  ])("nobody is signed in %s", async (_name, more, userInfo) => {
    const { domain, claims, user } = await newOrganization({ required_claims: { tid: "acme" } });
    const { email, email_verified, ...rest } = claims;
    const answers = userInfo
      ? { claims: rest, userInfo: { ...claims, ...userInfo } }
      : { claims: { ...rest, email, email_verified, ...more } };
    await expect(signIn(domain, answers)).rejects.toMatchObject({
      code: "unauthorized",
      message: expect.stringContaining("Sign in there with your organization’s account"),
    });
    expect(await sessionsOf(user._id)).toBe(0);
  });

  test("a person with all the required claims is signed in", async () => {
    const { domain, claims, user } = await newOrganization({ required_claims: { tid: "acme", hd: "acme.example" } });
    const { session } = await signIn(domain, { claims: { ...claims, tid: "acme", hd: "acme.example" } });
    expect(session.userId).toBe(user._id);
    const half = signIn(domain, { claims: { ...claims, tid: "acme" } });
    await expect(half).rejects.toMatchObject({ code: "unauthorized" });
  });
});

test("a provider that fails or is unavailable refuses nobody, and is asked again the next time", async () => {
  const { domain, claims, configured } = await newOrganization();
  await expect(signIn(domain, { claims, tokenStatus: 500 })).rejects.toMatchObject({ code: "service_unavailable" });
  await signIn(domain, { claims });
  const away = domainOf([{ ...configured, issuer: "http://127.0.0.1:1" }]);
  await expect(begin(away)).rejects.toMatchObject({
    code: "service_unavailable",
    message: "Acme is not responding. Try again in a moment.",
  });
});

test("a provider is found by the domain of an address, and only offered to everybody if configured", async () => {
  const { domain, email, configured } = await newOrganization();
  expect(domain.singleSignOn.findProviders(email.toUpperCase()).providers).toEqual([configured]);
  for (const address of ["", "ada@evil.example", `${email}.evil.example`]) {
    expect(domain.singleSignOn.findProviders(address)).toEqual({ providers: [], isUsed: true });
  }
  const offered = { ...configured, offered: true };
  expect(domainOf([offered]).singleSignOn.findProviders("").providers).toEqual([offered]);
  expect(account.domain.singleSignOn.findProviders(email)).toEqual({ providers: [], isUsed: false });
  await expect(begin(domain, "nobody")).rejects.toMatchObject({ code: "not_found" });
});

test("a failed sign-in has an unknown outcome if it created its member, and is refused otherwise", async () => {
  const { domain, email, domainName, configured, claims } = await newOrganization({ new_members: "developer" });
  const describe = () => Promise.reject(new ServiceError("service_unavailable"));
  const singleSignOn = createSingleSignOn({
    ...account.domain,
    ...sharedParts(account),
    identityProviders: createIdentityProviders([configured]),
    openId: createOpenId({ now: () => account.clock.now }),
    liveSessions: { describe, find: describe },
  });
  const failureOf = (who: typeof claims) =>
    signIn({ ...domain, singleSignOn }, { claims: who }).catch((error) => error);
  const newcomer = `new@${domainName}`;
  expect(isOutcomeUnknown(await failureOf({ ...claims, sub: `${claims.sub}-new`, email: newcomer }))).toBe(true);
  expect(await account.domain.users.find(newcomer)).toBeDefined();
  const refusal = await failureOf({ ...claims, email });
  expect([refusal.code, isOutcomeUnknown(refusal)]).toEqual(["service_unavailable", false]);
});
