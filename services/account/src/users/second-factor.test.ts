import { beforeEach, expect, test } from "@jest/globals";
import { operator } from "../audit/audit.ts";
import { MAX_FAILURES } from "../sessions/attempt-limits.ts";
import { SECOND_STEP_MS } from "../sign-in/sign-in.ts";
import { onceFound, sharedParts, testAccount, tokenIn } from "../testing/account.ts";
import { password, people } from "../testing/people.ts";
import { createSecondFactor } from "./second-factor.ts";

const account = await testAccount();
const { newUser, addressOf, signIn, turnOnApp, codeOf, entries } = people(account);
let email: string;
let place: { clientAddress: string };
beforeEach(async () => {
  ({ email } = await newUser());
  place = { clientAddress: addressOf({ email }) };
});

const over = { code: "unauthorized" };
/** Signs the user in and returns them as a caller. */
const newCaller = (given = password) => signIn({ email }, { password: given });

/** Sets up an app. The code that set it up is a step old afterwards. */
async function withApp() {
  const caller = await newCaller();
  const app = await turnOnApp(caller);
  account.advance(30_000);
  return { caller, ...app };
}

/** Returns the token of a first step. */
const firstStep = (): Promise<string> =>
  newCaller().then(
    () => "none was needed",
    ({ secondStepToken }) => secondStepToken,
  );

const finish = (secondStepToken: string, code: string) =>
  account.domain.signIns.finish({ secondStepToken, code, ...place });

test("with an app a password begins no session, and a code completes the sign-in, once", async () => {
  const { secret } = await withApp();
  const [step, another] = [await firstStep(), await firstStep()];
  await expect(account.domain.signIns.getSession(step)).rejects.toMatchObject(over);
  await expect(finish(step, "000000")).rejects.toMatchObject(over);
  const { session } = await finish(step, codeOf(secret));
  expect(session.email).toBe(email);
  // Neither the step nor the code counts again.
  account.advance(30_000);
  await expect(finish(step, codeOf(secret))).rejects.toMatchObject(over);
  await expect(finish(another, codeOf(secret))).resolves.toBeDefined();
  await expect(finish(await firstStep(), codeOf(secret))).rejects.toMatchObject(over);
});

test("two browsers that set up an app at the same time show the same secret", async () => {
  const [mine, other] = [await newCaller(), await newCaller()];
  const { store } = account.domain;
  const users = Object.create(store.users) as typeof store.users;
  let otherBrowser: { secret: string } | undefined;
  users.updateOne = async (...update: Parameters<typeof users.updateOne>) => {
    otherBrowser ??= await account.domain.secondFactor.beginTotp(other);
    return store.users.updateOne(...update);
  };
  const slowBrowser = createSecondFactor({ ...sharedParts(account), store: { ...store, users } });
  const { secret } = await slowBrowser.beginTotp(mine);
  expect(secret).toBe(otherBrowser!.secret);
  await account.domain.secondFactor.enableTotp(mine, codeOf(secret));
});

const next = "another horse battery";
test.each([
  [
    "reset",
    async () => {
      await account.domain.passwordResets.request({ email, ...place });
      const token = tokenIn((await account.mailsTo(email)).at(-1));
      await account.domain.passwordResets.complete({ token, password: next, ...place });
    },
  ],
  [
    "change",
    async () =>
      void (await account.domain.ownPassword.change(await newCaller(), { current: password, password: next })),
  ],
  [
    "replacement by the operator",
    async () => void (await account.domain.users.setPassword(operator, { email, password: next })),
  ],
])(
  "a session that ended with the %s of the password knows no secret of a later setup",
  async (_how, replacePassword) => {
    const thief = await newCaller();
    const { secret } = await account.domain.secondFactor.beginTotp(thief);
    account.advance(1);
    await replacePassword();
    await expect(account.domain.secondFactor.beginTotp(thief)).rejects.toMatchObject(over);
    expect((await account.domain.secondFactor.beginTotp(await newCaller(next))).secret).not.toBe(secret);
  },
);

test("no secret is returned or stored for a session that a new password ends meanwhile", async () => {
  await expect(resetMeanwhile().beginTotp(await newCaller())).rejects.toMatchObject(over);
  expect(await account.domain.users.find(email)).not.toHaveProperty("totp_setup");
});

test("two concurrent uses of one code begin one session", async () => {
  const { secret } = await withApp();
  const steps = [await firstStep(), await firstStep()];
  const outcomes = await Promise.allSettled(steps.map((step) => finish(step, codeOf(secret))));
  expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
});

test("a recovery code signs in once, and the others remain", async () => {
  const { caller, recoveryCodes } = await withApp();
  expect(await account.domain.secondFactor.get(caller)).toMatchObject({ recoveryCodesLeft: 10 });
  await expect(finish(await firstStep(), recoveryCodes[3]!.toUpperCase())).resolves.toBeDefined();
  await expect(finish(await firstStep(), recoveryCodes[3]!)).rejects.toMatchObject(over);
  expect(await account.domain.secondFactor.get(caller)).toMatchObject({ recoveryCodesLeft: 9 });
});

test("a second step expires after 5 minutes, and with a new password", async () => {
  const { secret } = await withApp();
  const late = await firstStep();
  account.advance(SECOND_STEP_MS);
  await expect(finish(late, codeOf(secret))).rejects.toMatchObject(over);
  const outdated = await firstStep();
  await account.domain.users.setPassword(operator, { email, password: "another horse battery" });
  await expect(finish(outdated, codeOf(secret))).rejects.toMatchObject(over);
});

test("codes can’t be guessed: both steps count, and the password does not reset the limit", async () => {
  await withApp();
  const codes: string[] = [];
  for (let n = 0; n < MAX_FAILURES.account / 2; n++) {
    const failed = await finish(await firstStep(), "000000").catch((error: { code: string }) => error);
    codes.push((failed as { code: string }).code);
  }
  expect(new Set(codes)).toEqual(new Set(["unauthorized"]));
  await expect(newCaller()).rejects.toMatchObject({ code: "rate_limited" });
});

test("an app is on after its first code: all other sessions end, and no second app can be set up", async () => {
  const [other, caller] = [await newCaller(), await newCaller()];
  const { secret, uri } = await account.domain.secondFactor.beginTotp(caller);
  expect(uri).toContain(secret);
  expect(await account.domain.secondFactor.beginTotp(caller)).toEqual({ secret, uri });
  const wrong = account.domain.secondFactor.enableTotp(caller, "000000");
  await expect(wrong).rejects.toMatchObject({ code: "invalid_request", details: [{ path: "code" }] });
  await expect(account.domain.signIns.getSession(other.token)).resolves.toBeDefined();
  await account.domain.secondFactor.enableTotp(caller, codeOf(secret));
  await expect(account.domain.signIns.getSession(other.token)).rejects.toMatchObject(over);
  await expect(account.domain.signIns.getSession(caller.token)).resolves.toBeDefined();
  await expect(account.domain.secondFactor.beginTotp(caller)).rejects.toMatchObject({ code: "invalid_request" });
  const user = await account.domain.users.find(email);
  expect(JSON.stringify(user)).not.toContain(secret);
});

test("without the app the password is enough again, and both changes are audited once", async () => {
  const { caller } = await withApp();
  await account.domain.secondFactor.disableTotp(caller);
  await account.domain.secondFactor.disableTotp(caller);
  await expect(newCaller()).resolves.toBeDefined();
  const user = await account.domain.users.find(email);
  expect((await entries({ target: user!._id, action: /totp/ })).map(({ action }) => action)).toEqual([
    "user.totp_enabled",
    "user.totp_disabled",
  ]);
});

test("a session that a new password ends meanwhile turns no app on or off", async () => {
  const caller = await newCaller();
  const { secret } = await account.domain.secondFactor.beginTotp(caller);
  const enabling = resetMeanwhile().enableTotp(caller, codeOf(secret));
  await expect(enabling).rejects.toMatchObject(over);
  expect(await account.domain.users.find(email)).not.toHaveProperty("totp");
  const { caller: later } = await withApp();
  await expect(resetMeanwhile().disableTotp(later)).rejects.toMatchObject(over);
  expect(await account.domain.users.find(email)).toHaveProperty("totp");
});

/** Returns a second factor whose user gets a new password after their session was found. */
function resetMeanwhile() {
  const liveSessions = onceFound(account, () => account.domain.users.setPassword(operator, { email, password }));
  return createSecondFactor({ ...sharedParts(account), liveSessions });
}
