import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { createAuditLog, operator } from "../audit/audit.ts";
import { createMailTexts } from "../mail/texts.ts";
import { createLiveSessions, type LiveSessions } from "../sessions/live-sessions.ts";
import { SECOND_STEP_MS } from "../sessions/sign-in.ts";
import { MAX_FAILURES } from "../sessions/sign-in-limits.ts";
import { createTestAccount, type TestAccount } from "../testing/account.ts";
import { createSecondFactor } from "./second-factor.ts";
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
  await account.domain.users.create(operator, { organizationId, email, password });
});
afterAll(() => account.close());

const password = "correct horse battery";
const over = { code: "unauthorized" };
const codeOf = (secret: string) => totpCode(secret, stepOf(account.clock.now));

/** A user with an app; the code that set it up is a step old. */
async function withApp() {
  const { token } = await account.domain.signIns.signIn({ email, password, ...place });
  const caller = { token, ...place };
  const { secret } = await account.domain.secondFactor.beginTotp(caller);
  const recoveryCodes = await account.domain.secondFactor.enableTotp(caller, codeOf(secret));
  account.advance(30_000);
  return { caller, secret, recoveryCodes };
}

/** The token of a first step. */
async function firstStep(): Promise<string> {
  const begun = account.domain.signIns.signIn({ email, password, ...place });
  return begun.then(
    () => "none was needed",
    ({ secondStepToken }) => secondStepToken,
  );
}

const finish = (secondStepToken: string, code: string) =>
  account.domain.signIns.finish({ secondStepToken, code, ...place });

test("with an app the password alone begins no session, and a code ends the sign-in, once", async () => {
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

test("two tabs that set up an app at once show the same secret", async () => {
  const { token } = await account.domain.signIns.signIn({ email, password, ...place });
  const caller = { token, ...place };
  const { store } = account.domain;
  const now = () => account.clock.now;
  const users = Object.create(store.users) as typeof store.users;
  let otherTab: { secret: string } | undefined;
  users.updateOne = async (...update: Parameters<typeof users.updateOne>) => {
    otherTab ??= await account.domain.secondFactor.beginTotp(caller);
    return store.users.updateOne(...update);
  };
  const slowTab = createSecondFactor({
    ...account,
    store: { ...store, users },
    now,
    liveSessions: createLiveSessions({ store, now }),
    audit: createAuditLog({ store, now }),
    mailQueue: account.domain.mailQueue,
    texts: createMailTexts(account),
    keys: account.webhookSecretKeys,
  });
  const { secret } = await slowTab.beginTotp(caller);
  expect(secret).toBe(otherTab!.secret);
  await account.domain.secondFactor.enableTotp(caller, codeOf(secret));
});

test("one code used twice at once begins one session", async () => {
  const { secret } = await withApp();
  const steps = [await firstStep(), await firstStep()];
  const outcomes = await Promise.allSettled(steps.map((step) => finish(step, codeOf(secret))));
  expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
});

test("a recovery code signs in once, and the others are left", async () => {
  const { caller, recoveryCodes } = await withApp();
  expect(await account.domain.secondFactor.get(caller)).toMatchObject({ recoveryCodesLeft: 10 });
  await expect(finish(await firstStep(), recoveryCodes[3]!.toUpperCase())).resolves.toBeDefined();
  await expect(finish(await firstStep(), recoveryCodes[3]!)).rejects.toMatchObject(over);
  expect(await account.domain.secondFactor.get(caller)).toMatchObject({ recoveryCodesLeft: 9 });
});

test("a second step is over after 5 minutes, and with a new password", async () => {
  const { secret } = await withApp();
  const late = await firstStep();
  account.advance(SECOND_STEP_MS);
  await expect(finish(late, codeOf(secret))).rejects.toMatchObject(over);
  const outdated = await firstStep();
  await account.domain.users.setPassword(operator, { email, password: "another horse battery" });
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
  await expect(account.domain.signIns.signIn({ email, password, ...place })).rejects.toMatchObject({
    code: "rate_limited",
  });
});

test("an app counts once a code of it was given; then all other sessions are over, and none can be set up beside it", async () => {
  const other = await account.domain.signIns.signIn({ email, password, ...place });
  const { token } = await account.domain.signIns.signIn({ email, password, ...place });
  const caller = { token, ...place };
  const { secret, uri } = await account.domain.secondFactor.beginTotp(caller);
  expect(uri).toContain(secret);
  expect(await account.domain.secondFactor.beginTotp(caller)).toEqual({ secret, uri });
  const wrong = account.domain.secondFactor.enableTotp(caller, "000000");
  await expect(wrong).rejects.toMatchObject({ code: "invalid_request", details: [{ path: "code" }] });
  await expect(account.domain.signIns.getSession(other.token)).resolves.toBeDefined();
  await account.domain.secondFactor.enableTotp(caller, codeOf(secret));
  await expect(account.domain.signIns.getSession(other.token)).rejects.toMatchObject(over);
  await expect(account.domain.signIns.getSession(token)).resolves.toBeDefined();
  await expect(account.domain.secondFactor.beginTotp(caller)).rejects.toMatchObject({ code: "invalid_request" });
  const user = await account.domain.users.find(email);
  expect(JSON.stringify(user)).not.toContain(secret);
});

test("without the app the password is enough again; both changes are audited, once each", async () => {
  const { caller } = await withApp();
  await account.domain.secondFactor.disableTotp(caller);
  await account.domain.secondFactor.disableTotp(caller);
  await expect(account.domain.signIns.signIn({ email, password, ...place })).resolves.toBeDefined();
  const user = await account.domain.users.find(email);
  const entries = await account.domain.store.auditLog
    .find({ target: user!._id, action: /totp/ })
    .sort({ _id: 1 })
    .toArray();
  expect(entries.map(({ action }) => action)).toEqual(["user.totp_enabled", "user.totp_disabled"]);
});

test("a session that a new password ends meanwhile neither sets up an app nor removes one", async () => {
  const { token } = await account.domain.signIns.signIn({ email, password, ...place });
  const caller = { token, ...place };
  const { secret } = await account.domain.secondFactor.beginTotp(caller);
  const enabling = resetMeanwhile().enableTotp(caller, codeOf(secret));
  await expect(enabling).rejects.toMatchObject(over);
  expect(await account.domain.users.find(email)).not.toHaveProperty("totp");
  const { caller: later } = await withApp();
  await expect(resetMeanwhile().disableTotp(later)).rejects.toMatchObject(over);
  expect(await account.domain.users.find(email)).toHaveProperty("totp");
});

/** A second factor whose user gets a new password after their session was found alive. */
function resetMeanwhile() {
  const { store, mailQueue, users: accounts } = account.domain;
  const now = () => account.clock.now;
  const real = createLiveSessions({ store, now });
  const liveSessions: LiveSessions = {
    ...real,
    async find(token) {
      const found = await real.find(token);
      await accounts.setPassword(operator, { email, password });
      return found;
    },
  };
  const [audit, texts] = [createAuditLog({ store, now }), createMailTexts(account)];
  return createSecondFactor({
    ...account,
    store,
    now,
    liveSessions,
    audit,
    mailQueue,
    texts,
    keys: account.webhookSecretKeys,
  });
}
