import { beforeEach, expect, test } from "@jest/globals";
import { MAX_FAILURES, WINDOW_MS } from "../sessions/attempt-limits.ts";
import type { SecondStepError } from "../sign-in/sign-in.ts";
import type { UserDocument } from "../store.ts";
import { auditQuery, testAccount, until } from "../testing/account.ts";
import { callerOf, password, people } from "../testing/people.ts";

const HOUR_MS = 60 * 60_000;
const account = await testAccount();
const { newUser, turnOnApp, entries: entriesOf } = people(account);
let groups = 0;
let user: UserDocument;

beforeEach(async () => {
  account.clock.now = new Date(Math.ceil((account.clock.now.getTime() + 1) / HOUR_MS) * HOUR_MS - 1);
  groups++;
  user = await newUser();
});

const signIn = (given: string, from = 1) =>
  account.domain.signIns.signIn({ email: user.email, password: given, clientAddress: `203.0.${groups}.${from}` });
const entries = () => entriesOf({ action: "user.sign_in_failed", target: user._id });
/** Waits until the entries count this many failures together. */
const counted = (failures: number) =>
  until(async () => {
    const numbers = (await entries()).map(
      ({ details }) => Number(details?.wrong_passwords ?? 0) + Number(details?.wrong_codes ?? 0),
    );
    return numbers.reduce((sum, each) => sum + each, 0) === failures;
  });

test("failed sign-ins of a user are one entry per hour with their number, even concurrent ones", async () => {
  await Promise.allSettled(Array.from({ length: 5 }, (_, n) => signIn("wrong horse", n)));
  await counted(5);
  account.advance(WINDOW_MS);
  await expect(signIn("wrong horse", 77)).rejects.toMatchObject({ code: "unauthorized" });
  await counted(6);
  const at = account.clock.now.toISOString();
  const first = {
    organization_id: user.organization_id,
    actor: "anonymous",
    at: new Date(account.clock.now.getTime() - WINDOW_MS),
    details: { wrong_passwords: 6, last_at: at, last_address: `203.0.${groups}.77` },
  };
  expect(await entries()).toMatchObject([first]);
  account.advance(HOUR_MS);
  await expect(signIn("wrong horse")).rejects.toMatchObject({ code: "unauthorized" });
  await counted(7);
  expect(await entries()).toMatchObject([first, { details: { wrong_passwords: 1 } }]);
});

test("wrong codes count as well", async () => {
  const { token } = await signIn(password);
  const caller = { token, clientAddress: "203.0.113.9" };
  await turnOnApp(caller);
  const step = await signIn(password).catch((error: SecondStepError) => error);
  const { secondStepToken } = step as SecondStepError;
  const finished = account.domain.signIns.finish({ secondStepToken, code: "000000", clientAddress: "203.0.113.9" });
  await expect(finished).rejects.toMatchObject({ code: "unauthorized" });
  await counted(1);
  expect(await entries()).toMatchObject([{ details: { wrong_codes: 1 } }]);
});

test("attempts that a limit refuses write nothing, so strangers can't fill the log", async () => {
  for (let n = 0; n < MAX_FAILURES.account + 20; n++) await signIn("wrong horse", n).catch(() => undefined);
  await counted(MAX_FAILURES.account);
  expect(await entries()).toMatchObject([{ details: { wrong_passwords: MAX_FAILURES.account } }]);
});

test("a right password is no failure, and an unknown address leaves no entry anywhere", async () => {
  const all = () => account.domain.store.auditLog.countDocuments({ action: "user.sign_in_failed" });
  const before = await all();
  await signIn(password);
  const unknown = { email: "nobody@example.com", password, clientAddress: "203.0.113.200" };
  await expect(account.domain.signIns.signIn(unknown)).rejects.toMatchObject({ code: "unauthorized" });
  await signIn("wrong horse").catch(() => undefined);
  await counted(1);
  expect(await all()).toBe(before + 1);
});

test("owners find them in the audit log", async () => {
  await signIn("wrong horse").catch(() => undefined);
  await counted(1);
  const query = auditQuery({ action: "user.sign_in_failed", page: { limit: 10 } });
  const { entries: found } = await account.domain.auditLog.list(callerOf(user), query);
  expect(found).toMatchObject([{ entry: { actor: "anonymous" }, targetEmail: user.email }]);
});
