import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { operator } from "./audit.ts";
import { SECOND_STEP_MS } from "./sign-in.ts";
import { MAX_FAILURES } from "./sign-in-limits.ts";
import { createTestAccount, type TestAccount } from "./test-account.ts";
import { stepOf, totpCode } from "./totp.ts";

let account: TestAccount;
let users = 0;
let email: string;
let place: { clientAddress: string };
beforeAll(async () => {
  account = await createTestAccount(process.env.MONGODB_URI!);
});
beforeEach(async () => {
  email = `user${++users}@example.com`;
  place = { clientAddress: `203.0.113.${users}` };
  const { _id: organizationId } = await account.organization();
  await account.domain.createUser(operator, { organizationId, email, password });
});
afterAll(() => account.close());

const password = "correct horse battery";
const over = { code: "unauthorized" };
const codeOf = (secret: string) => totpCode(secret, stepOf(account.clock.now));

/** A user with an app; the code that set it up is a step old. */
async function withApp() {
  const { token } = await account.domain.signIn({ email, password, ...place });
  const caller = { token, ...place };
  const { secret } = await account.domain.beginTotp(caller);
  const recoveryCodes = await account.domain.enableTotp(caller, codeOf(secret));
  account.advance(30_000);
  return { caller, secret, recoveryCodes };
}

/** The token of a first step. */
async function firstStep(): Promise<string> {
  const begun = account.domain.signIn({ email, password, ...place });
  return begun.then(
    () => "none was needed",
    ({ secondStepToken }) => secondStepToken,
  );
}

const finish = (secondStepToken: string, code: string) =>
  account.domain.finishSignIn({ secondStepToken, code, ...place });

test("with an app the password alone begins no session, and a code ends the sign-in, once", async () => {
  const { secret } = await withApp();
  const [step, another] = [await firstStep(), await firstStep()];
  await expect(account.domain.getSession(step)).rejects.toMatchObject(over);
  await expect(finish(step, "000000")).rejects.toMatchObject(over);
  const { session } = await finish(step, codeOf(secret));
  expect(session.email).toBe(email);
  // Neither the step nor the code counts again.
  account.advance(30_000);
  await expect(finish(step, codeOf(secret))).rejects.toMatchObject(over);
  await expect(finish(another, codeOf(secret))).resolves.toBeDefined();
  await expect(finish(await firstStep(), codeOf(secret))).rejects.toMatchObject(over);
});

test("one code used twice at once begins one session", async () => {
  const { secret } = await withApp();
  const steps = [await firstStep(), await firstStep()];
  const outcomes = await Promise.allSettled(steps.map((step) => finish(step, codeOf(secret))));
  expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
});

test("a recovery code signs in once, and the others are left", async () => {
  const { caller, recoveryCodes } = await withApp();
  expect(await account.domain.getSecondFactor(caller)).toMatchObject({ recoveryCodesLeft: 10 });
  await expect(finish(await firstStep(), recoveryCodes[3]!.toUpperCase())).resolves.toBeDefined();
  await expect(finish(await firstStep(), recoveryCodes[3]!)).rejects.toMatchObject(over);
  expect(await account.domain.getSecondFactor(caller)).toMatchObject({ recoveryCodesLeft: 9 });
});

test("a second step is over after 5 minutes, and with a new password", async () => {
  const { secret } = await withApp();
  const late = await firstStep();
  account.advance(SECOND_STEP_MS);
  await expect(finish(late, codeOf(secret))).rejects.toMatchObject(over);
  const outdated = await firstStep();
  await account.domain.setPassword(operator, { email, password: "another horse battery" });
  await expect(finish(outdated, codeOf(secret))).rejects.toMatchObject(over);
});

test("codes can’t be guessed: both steps count as tries, and the password does not forgive them", async () => {
  await withApp();
  const codes: string[] = [];
  for (let n = 0; n < MAX_FAILURES.account / 2; n++) {
    const failed = await finish(await firstStep(), "000000").catch((error: { code: string }) => error);
    codes.push((failed as { code: string }).code);
  }
  expect(new Set(codes)).toEqual(new Set(["unauthorized"]));
  await expect(account.domain.signIn({ email, password, ...place })).rejects.toMatchObject({ code: "rate_limited" });
});

test("an app counts once a code of it was given; then all other sessions are over, and none can be set up beside it", async () => {
  const other = await account.domain.signIn({ email, password, ...place });
  const { token } = await account.domain.signIn({ email, password, ...place });
  const caller = { token, ...place };
  const { secret, uri } = await account.domain.beginTotp(caller);
  expect(uri).toContain(secret);
  expect(await account.domain.beginTotp(caller)).toEqual({ secret, uri });
  const wrong = account.domain.enableTotp(caller, "000000");
  await expect(wrong).rejects.toMatchObject({ code: "invalid_request", details: [{ path: "code" }] });
  await expect(account.domain.getSession(other.token)).resolves.toBeDefined();
  await account.domain.enableTotp(caller, codeOf(secret));
  await expect(account.domain.getSession(other.token)).rejects.toMatchObject(over);
  await expect(account.domain.getSession(token)).resolves.toBeDefined();
  await expect(account.domain.beginTotp(caller)).rejects.toMatchObject({ code: "invalid_request" });
  const user = await account.domain.findUser(email);
  expect(JSON.stringify(user)).not.toContain(secret);
});

test("without the app the password is enough again; both changes are audited, once each", async () => {
  const { caller } = await withApp();
  await account.domain.disableTotp(caller);
  await account.domain.disableTotp(caller);
  await expect(account.domain.signIn({ email, password, ...place })).resolves.toBeDefined();
  const user = await account.domain.findUser(email);
  const entries = await account.domain.store.auditLog
    .find({ target: user!._id, action: /totp/ })
    .sort({ _id: 1 })
    .toArray();
  expect(entries.map(({ action }) => action)).toEqual(["user.totp_enabled", "user.totp_disabled"]);
});
