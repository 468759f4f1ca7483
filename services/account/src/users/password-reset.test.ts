import { beforeEach, expect, test } from "@jest/globals";
import { operator } from "../audit/audit.ts";
import { MAX_NOTICES } from "../mail/notices.ts";
import { MAX_FAILURES, MAX_MAILS } from "../sessions/attempt-limits.ts";
import { SecondStepError } from "../sign-in/sign-in.ts";
import type { UserDocument } from "../store.ts";
import { testAccount, tokenIn } from "../testing/account.ts";
import { password, people } from "../testing/people.ts";
import { RESET_MS } from "./password-reset.ts";

const account = await testAccount();
const { newUser, addressOf, signIn: signInAs, turnOnApp, codeOf, addPasskey, entries } = people(account);
let user: UserDocument;
let email: string;
let clientAddress: string;
beforeEach(async () => {
  user = await newUser();
  ({ email } = user);
  clientAddress = addressOf(user);
});

const NOBODYS_PASSKEY = {
  user_id: "usr_other",
  organization_id: "org_other",
  credential_id: "other",
  public_key: Buffer.alloc(1),
  counter: 0,
  transports: [],
  name: "Other",
  created_at: new Date(),
};
const next = "another horse battery";
const over = { code: "not_found", message: "This link has expired or was already used. Request a new one." };

const signIn = (given?: string) => signInAs(user, { password: given });
const reset = (token: string, given = next) =>
  account.domain.passwordResets.complete({ token, password: given, clientAddress });

/** Requests a link, and returns the token in the email. */
async function link(): Promise<string> {
  account.advance(1);
  await account.domain.passwordResets.request({ email, clientAddress });
  return tokenIn((await account.mailsTo(email)).filter(({ kind }) => kind === "password_reset").at(-1));
}

test("a link sets a new password, ends every session and begins none, and the user is notified", async () => {
  const { token: session } = await signIn();
  const token = await link();
  expect(await account.domain.passwordResets.get(token)).toEqual({ email, passkeys: 0 });
  await expect(account.domain.signIns.getSession(session)).resolves.toBeDefined();
  account.advance(1);
  await reset(token);
  await expect(account.domain.signIns.getSession(session)).rejects.toMatchObject({ code: "unauthorized" });
  expect(await account.domain.store.sessions.countDocuments({ user_id: user._id })).toBe(0);
  await expect(signIn()).rejects.toMatchObject({ code: "unauthorized" });
  await expect(signIn(next)).resolves.toBeDefined();
  expect((await account.mailsTo(email)).at(-1)).toMatchObject({ kind: "password_changed" });
});

test("the audit log contains who requested a link, and who used it", async () => {
  const token = await link();
  await reset(token);
  expect(await entries({ target: user._id, action: /^user\.password_reset/ })).toMatchObject([
    { action: "user.password_reset_asked", actor: "anonymous", client_address: clientAddress },
    { action: "user.password_reset", actor: user._id, client_address: clientAddress },
  ]);
});

test("a link works once, for an hour, and until the password changes in any way", async () => {
  const [first, second] = [await link(), await link()];
  await reset(first);
  for (const used of [first, second]) await expect(reset(used)).rejects.toMatchObject(over);

  const old = await link();
  account.advance(RESET_MS - 1);
  await expect(account.domain.passwordResets.get(old)).resolves.toBeDefined();
  account.advance(1);
  await expect(account.domain.passwordResets.get(old)).rejects.toMatchObject(over);
  await expect(reset(old)).rejects.toMatchObject(over);

  const outrun = await link();
  await account.domain.users.setPassword(operator, { email, password });
  await expect(reset(outrun)).rejects.toMatchObject(over);
  await expect(signIn()).resolves.toBeDefined();
});

test("two concurrent uses of a link set one password", async () => {
  const token = await link();
  const outcomes = await Promise.allSettled([reset(token), reset(token, "a third horse battery")]);
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
});

test("a refused password does not use up the link", async () => {
  const token = await link();
  for (const refused of ["short", "password123"]) {
    const attempt = reset(token, refused);
    await expect(attempt).rejects.toMatchObject({ code: "invalid_request", details: [{ path: "password" }] });
  }
  await expect(reset(token)).resolves.toBeDefined();
});

test("an authenticator app is still required, and a second step in progress ends", async () => {
  const { secret } = await turnOnApp(await signIn());
  const secondStep = (await signIn().catch((error: unknown) => error)) as SecondStepError;
  await reset(await link());
  await expect(signIn(next)).rejects.toBeInstanceOf(SecondStepError);
  account.advance(60_000);
  const finish = account.domain.signIns.finish({
    secondStepToken: secondStep.secondStepToken,
    code: codeOf(secret),
    clientAddress,
  });
  await expect(finish).rejects.toMatchObject({ code: "unauthorized" });
  expect((await account.mailsTo(email)).map(({ kind }) => kind)).toContain("authenticator_enabled");
});

test("a user who failed too often can sign in with the new password immediately", async () => {
  for (let n = 0; n < MAX_FAILURES.account; n++) await expect(signIn("wrong")).rejects.toMatchObject({});
  await expect(signIn()).rejects.toMatchObject({ code: "rate_limited" });
  await reset(await link());
  await expect(signIn(next)).resolves.toBeDefined();
});

test("an unknown address gets the same answer, no email, and the same limit", async () => {
  const ask = (to: string) => account.domain.passwordResets.request({ email: to, clientAddress: "198.51.100.7" });
  const outcomes = async (to: string) =>
    Promise.all(
      Array.from({ length: MAX_MAILS.account + 1 }, () =>
        ask(to).then(
          () => "done",
          ({ code, message }) => `${code} ${message}`,
        ),
      ),
    );
  const unknown = `nobody-${email}`;
  expect((await outcomes(unknown)).sort()).toEqual((await outcomes(email)).sort());
  expect(await account.mailsTo(unknown)).toEqual([]);
});

test.each([
  ["keeps all passkeys unless its user wants otherwise", false],
  ["removes all passkeys if its user wants that, and only their own", true],
])("a link %s", async (_name, removePasskeys) => {
  const caller = await signIn();
  for (const name of ["Laptop", "Phone"]) await addPasskey(caller, name);
  const others = await account.domain.store.passkeys.insertOne({ ...NOBODYS_PASSKEY, _id: `pky_${email}` });
  const token = await link();
  expect(await account.domain.passwordResets.get(token)).toEqual({ email, passkeys: 2 });
  await account.domain.passwordResets.complete({ token, password: next, removePasskeys, clientAddress });
  const own = { user_id: user._id };
  expect(await account.domain.store.passkeys.countDocuments(own)).toBe(removePasskeys ? 0 : 2);
  expect(await account.domain.store.passkeys.deleteOne({ _id: others.insertedId })).toMatchObject({ deletedCount: 1 });
  const removed = { target: user._id, action: "user.passkey_removed" } as const;
  expect(await account.domain.store.auditLog.countDocuments(removed)).toBe(removePasskeys ? 2 : 0);
  const changed = (await account.mailsTo(email)).find(({ kind }) => kind === "password_changed");
  expect(changed!.text.includes("All of its passkeys were removed")).toBe(removePasskeys);
});

test("passkeys that a link removes do not use up the emails about later ones", async () => {
  const own = Array.from({ length: MAX_NOTICES }, (_, n) => {
    const _id = `pky_${email}_${n}`;
    return { ...NOBODYS_PASSKEY, _id, credential_id: _id, user_id: user._id };
  });
  await account.domain.store.passkeys.insertMany(own);
  const token = await link();
  await account.domain.passwordResets.complete({ token, password: next, removePasskeys: true, clientAddress });
  account.advance(1);
  await addPasskey(await signIn(next));
  expect((await account.mailsTo(email)).at(-1)).toMatchObject({ subject: "A passkey was added" });
});

test("a link that fails removes no passkeys", async () => {
  const caller = await signIn();
  await addPasskey(caller);
  const token = await link();
  const refused = { token, password: "short", removePasskeys: true, clientAddress };
  await expect(account.domain.passwordResets.complete(refused)).rejects.toMatchObject({ code: "invalid_request" });
  expect(await account.domain.passkeys.list(caller)).toHaveLength(1);
});
