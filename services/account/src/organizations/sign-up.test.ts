import { beforeEach, describe, expect, test } from "@jest/globals";
import { operator } from "../audit/audit.ts";
import { createAccountDomain } from "../domain.ts";
import { MAX_FAILURES, MAX_MAILS } from "../sessions/attempt-limits.ts";
import { EmailUnconfirmedError } from "../sign-in/sign-in.ts";
import { testAccount, tokenIn } from "../testing/account.ts";
import { SIGN_UP_MS } from "./sign-up.ts";

const account = await testAccount();
let people = 0;
let email: string;
let clientAddress: string;
beforeEach(() => {
  email = `person${++people}@example.com`;
  clientAddress = `203.0.113.${people}`;
});

const password = "correct horse battery";
const over = { code: "not_found", message: "This link has expired or was already used. Sign up again." };

/** A moment after whatever was before, so that mails and sign-ups have an order. */
const signUp = (changes: { email?: string; organizationName?: string; password?: string } = {}) => {
  account.advance(1);
  return account.domain.signUps.begin({ organizationName: "Acme", email, password, clientAddress, ...changes });
};
const confirm = (token: string, given = password) =>
  account.domain.signUps.confirm({ token, password: given, clientAddress, userAgent: "Laptop/1" });

async function newestToken(): Promise<string> {
  return tokenIn((await account.mailsTo(email)).at(-1));
}

test("the link of the email and the password confirm a sign-up, create an organization with its owner, and sign them in", async () => {
  await signUp({ organizationName: "  Acme  ", email: ` ${email.toUpperCase()} ` });
  expect(await account.domain.users.find(email)).toBeUndefined();
  const [mail] = await account.mailsTo(email);
  expect(mail).toMatchObject({ kind: "sign_up", subject: "Confirm your email address" });
  expect(mail!.text).toContain("https://dashboard.example/sign-up/confirm?token=");
  const token = tokenIn(mail);
  expect(await account.domain.signUps.get(token)).toEqual({ email, organizationName: "Acme" });

  const { token: sessionToken, session } = await confirm(token);
  expect(session).toMatchObject({ email, organizationName: "Acme", role: "owner" });
  expect(await account.domain.signIns.getSession(sessionToken)).toEqual(session);
  expect(await account.domain.organizations.get(session.organizationId)).toMatchObject({
    plan: "starter",
    status: "active",
  });
  const tenant = { organizationId: session.organizationId, environment: "sandbox" } as const;
  const caller = { tenant, actor: session.userId, requestId: "req_1" };
  expect((await account.domain.apiKeys.create(caller, { name: "First" })).value).toMatch(/^svc_test_/);
  await expect(account.domain.signIns.signIn({ email, password, clientAddress })).resolves.toBeDefined();
});

test("the audit log contains a sign-up with its user, client address and time", async () => {
  await signUp();
  const askedAt = account.clock.now;
  account.advance(60_000);
  const { session } = await confirm(await newestToken());
  const entries = await account.domain.store.auditLog
    .find({ organization_id: session.organizationId })
    .sort({ _id: 1 })
    .toArray();
  expect(entries.map(({ action }) => action)).toEqual([
    "organization.created",
    "user.created",
    "user.signed_up",
    "user.email_confirmed",
    "user.signed_in",
  ]);
  for (const entry of entries) expect(entry).toMatchObject({ actor: session.userId, client_address: clientAddress });
  expect(entries[2]).toMatchObject({
    details: { asked_at: askedAt.toISOString(), asked_from: clientAddress },
  });
});

describe("a link", () => {
  test("creates one organization if it is used twice concurrently", async () => {
    await signUp();
    const token = await newestToken();
    const outcomes = await Promise.allSettled([confirm(token), confirm(token)]);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    await expect(account.domain.signUps.get(token)).rejects.toMatchObject(over);
    const user = await account.domain.users.find(email);
    const created = { action: "organization.created", actor: user!._id };
    expect(await account.domain.store.auditLog.countDocuments(created)).toBe(1);
  });

  test("works for 24 hours", async () => {
    await signUp();
    const token = await newestToken();
    account.advance(SIGN_UP_MS - 1);
    await expect(account.domain.signUps.get(token)).resolves.toBeDefined();
    account.advance(1);
    await expect(account.domain.signUps.get(token)).rejects.toMatchObject(over);
    await expect(confirm(token)).rejects.toMatchObject(over);
  });

  test("no longer works when its address got an account in another way", async () => {
    await signUp();
    const token = await newestToken();
    const { _id: organizationId } = await account.organization();
    await account.domain.users.create(operator, { organizationId, email, password: "another horse battery" });
    await expect(confirm(token)).rejects.toMatchObject(over);
  });

  test("works if it is sent again, and so does the earlier one", async () => {
    await signUp();
    account.advance(1);
    await account.domain.signUps.resend({ email, clientAddress });
    const [first, second] = (await account.mailsTo(email)).map(tokenIn);
    expect(second).not.toBe(first);
    await expect(account.domain.signUps.get(first!)).resolves.toBeDefined();
    await expect(confirm(second!)).resolves.toBeDefined();
    await expect(confirm(first!)).rejects.toMatchObject(over);
  });
});

test("signing up with another person's address is of no use: the link without the password confirms nothing", async () => {
  await signUp({ password: "chosen by a stranger" });
  const token = await newestToken();
  await expect(confirm(token, "what the owner types")).rejects.toMatchObject({ code: "unauthorized" });
  expect(await account.domain.users.find(email)).toBeUndefined();
  await signUp({ organizationName: "The owner's" });
  const { session } = await confirm(await newestToken());
  expect(session.organizationName).toBe("The owner's");
  await expect(confirm(token, "chosen by a stranger")).rejects.toMatchObject(over);
});

test("the password of a sign-up has the limits of sign-ins", async () => {
  await signUp();
  const token = await newestToken();
  for (let n = 0; n < MAX_FAILURES.account; n++)
    await expect(confirm(token, "wrong horse")).rejects.toMatchObject({ code: "unauthorized" });
  await expect(confirm(token)).rejects.toMatchObject({ code: "rate_limited" });
});

describe("an address that has an account", () => {
  beforeEach(async () => {
    const { _id: organizationId } = await account.organization();
    await account.domain.users.create(operator, { organizationId, email, password });
  });

  test("gets an email that says so, without a link that creates an account", async () => {
    await signUp();
    await account.domain.signUps.resend({ email, clientAddress });
    const mails = await account.mailsTo(email);
    expect(mails.map(({ kind }) => kind)).toEqual(["sign_up_again", "sign_up_again"]);
    expect(mails[0]!.text).not.toContain("token=");
    expect(await account.domain.store.signUps.countDocuments({ email })).toBe(0);
  });

  test("keeps its password and its organization", async () => {
    await signUp({ password: "another horse battery" });
    await expect(account.domain.signIns.signIn({ email, password, clientAddress })).resolves.toBeDefined();
    const attempt = account.domain.signIns.signIn({ email, password: "another horse battery", clientAddress });
    await expect(attempt).rejects.toMatchObject({ code: "unauthorized" });
  });
});

describe("a sign-in before the address is confirmed", () => {
  test("reports that if the password is right, and begins no session", async () => {
    await signUp();
    await expect(account.domain.signIns.signIn({ email, password, clientAddress })).rejects.toBeInstanceOf(
      EmailUnconfirmedError,
    );
    expect(await account.domain.store.sessions.countDocuments({ client_address: clientAddress })).toBe(0);
  });

  test("has the answer for an unknown address if the password is wrong", async () => {
    await signUp();
    const [wrong, unknown] = await Promise.allSettled([
      account.domain.signIns.signIn({ email, password: "wrong horse", clientAddress }),
      account.domain.signIns.signIn({ email: "nobody@example.com", password: "wrong horse", clientAddress }),
    ]);
    expect(wrong).toEqual(unknown);
  });
});

test("an address that did not sign up gets no email", async () => {
  await account.domain.signUps.resend({ email, clientAddress });
  expect(await account.mailsTo(email)).toEqual([]);
});

test("no email contains text that its requester typed", async () => {
  await signUp({ organizationName: "Win a prize at evil.example" });
  const [mail] = await account.mailsTo(email);
  expect(JSON.stringify(mail)).not.toContain("evil.example");
});

describe("limits", () => {
  test("an address gets a limited number of emails per hour, with or without an account, and sent links keep working", async () => {
    for (let n = 0; n < MAX_MAILS.account; n++) await signUp();
    const token = await newestToken();
    const refused = { code: "rate_limited" };
    await expect(signUp()).rejects.toMatchObject(refused);
    await expect(account.domain.signUps.resend({ email, clientAddress: "198.51.100.9" })).rejects.toMatchObject(
      refused,
    );
    await expect(confirm(token)).resolves.toBeDefined();
    await expect(signUp()).rejects.toMatchObject(refused);
    account.advance(60 * 60_000);
    await expect(signUp()).resolves.toBeUndefined();
  });

  test("a client address causes a limited number of emails per hour", async () => {
    for (let n = 0; n < MAX_MAILS.address; n++)
      await account.domain.signUps.resend({ email: `${n}-${email}`, clientAddress });
    await expect(signUp()).rejects.toMatchObject({ code: "rate_limited" });
  });
});

test.each([
  [{ organizationName: " " }, "organization_name"],
  [{ organizationName: "Acme\u202e" }, "organization_name"],
  [{ organizationName: "x".repeat(201) }, "organization_name"],
  [{ email: "nobody" }, "email"],
  [{ password: "short" }, "password"],
  [{ password: "password123" }, "password"],
])("a sign-up with %j is refused at %s, and nothing is written", async (changes, path) => {
  await expect(signUp(changes)).rejects.toMatchObject({ code: "invalid_request", details: [{ path }] });
  expect(await account.mailsTo(email)).toEqual([]);
});

test("nobody can sign up if sign-up is closed", async () => {
  const closed = createAccountDomain({ ...account, signUpOpen: false, now: () => account.clock.now });
  const input = { organizationName: "Acme", email, password, clientAddress };
  await expect(closed.signUps.begin(input)).rejects.toMatchObject({ code: "not_found" });
  await expect(closed.signUps.resend(input)).rejects.toMatchObject({ code: "not_found" });
});
