import { beforeEach, describe, expect, test } from "@jest/globals";
import { MAX_FAILURES } from "../sessions/attempt-limits.ts";
import { ABSOLUTE_TIMEOUT_MS } from "../sessions/sessions.ts";
import type { UserDocument } from "../store.ts";
import { testAccount } from "../testing/account.ts";
import { password, people } from "../testing/people.ts";

const MINUTE = 60_000;
const account = await testAccount();
const { newUser, signIn: signInAs, entries } = people(account);
let user: UserDocument;
beforeEach(async () => {
  user = await newUser();
});

const over = { code: "unauthorized" };
const signIn = (given?: string) => signInAs(user, { password: given });
const auditOf = (action: string) => entries({ action, target: user._id });

describe("confirming the identity with the password", () => {
  test("is stored in the session, which continues under a new token until the same time", async () => {
    const caller = await signIn();
    const before = await account.domain.signIns.getSession(caller.token);
    account.advance(20 * MINUTE);
    expect((await account.domain.signIns.getSession(caller.token)).authenticatedAt).toEqual(before.authenticatedAt);
    const { token, session } = await account.domain.ownPassword.reauthenticate(caller, password);
    expect(session).toEqual({ ...before, authenticatedAt: account.clock.now });
    expect(await account.domain.signIns.getSession(token)).toEqual(session);
    await expect(account.domain.signIns.getSession(caller.token)).rejects.toMatchObject(over);
    expect(await account.domain.sessions.list({ ...caller, token })).toMatchObject([{ userAgent: "Laptop/1" }]);
    expect(await auditOf("user.reauthenticated")).toMatchObject([{ client_address: caller.clientAddress }]);
  });

  test("with a wrong password changes nothing, and is limited in this session only", async () => {
    const caller = await signIn();
    const guess = () => account.domain.ownPassword.reauthenticate(caller, "wrong horse");
    const other = await signIn();
    for (let n = 0; n < MAX_FAILURES.session; n++)
      await expect(guess()).rejects.toMatchObject({ code: "invalid_request", details: [{ path: "password" }] });
    await expect(guess()).rejects.toMatchObject({ code: "rate_limited" });
    await expect(account.domain.signIns.getSession(caller.token)).resolves.toBeDefined();
    expect(await auditOf("user.reauthenticated")).toEqual([]);
    await expect(account.domain.ownPassword.reauthenticate(other, password)).resolves.toBeDefined();
  });

  test("twice concurrently replaces the session by one session", async () => {
    const caller = await signIn();
    const both = [
      account.domain.ownPassword.reauthenticate(caller, password),
      account.domain.ownPassword.reauthenticate(caller, password),
    ];
    const outcomes = (await Promise.allSettled(both)).map(({ status }) => status);
    expect(outcomes.sort()).toEqual(["fulfilled", "rejected"]);
    expect(await account.domain.store.sessions.countDocuments({ user_id: user._id })).toBe(1);
  });

  test("is refused without a session", async () => {
    const caller = { token: "x", clientAddress: "203.0.113.200" };
    await expect(account.domain.ownPassword.reauthenticate(caller, password)).rejects.toMatchObject(over);
  });
});

describe("changing the password", () => {
  const next = "another horse battery";

  test("ends every session and begins a new one, and only the new password signs in", async () => {
    const [caller, elsewhere] = [await signIn(), await signIn()];
    account.advance(20 * MINUTE);
    const { token, session } = await account.domain.ownPassword.change(caller, { current: password, password: next });
    for (const old of [caller, elsewhere])
      await expect(account.domain.signIns.getSession(old.token)).rejects.toMatchObject(over);
    expect(await account.domain.signIns.getSession(token)).toEqual(session);
    expect(session.authenticatedAt).toEqual(account.clock.now);
    expect(session.expiresAt).toEqual(new Date(account.clock.now.getTime() + ABSOLUTE_TIMEOUT_MS));
    await expect(signIn()).rejects.toMatchObject(over);
    await expect(signIn(next)).resolves.toBeDefined();
    expect(await auditOf("user.password_changed")).toHaveLength(1);
  });

  test.each([
    ["the current one is wrong", "wrong horse", next, "current_password"],
    ["the new one is too short", password, "short", "password"],
  ])("is refused if %s, and changes nothing", async (_name, current, wanted, path) => {
    const caller = await signIn();
    const changed = account.domain.ownPassword.change(caller, { current, password: wanted });
    await expect(changed).rejects.toMatchObject({ code: "invalid_request", details: [{ path }] });
    await expect(account.domain.signIns.getSession(caller.token)).resolves.toBeDefined();
    await expect(signIn()).resolves.toBeDefined();
  });

  test("twice concurrently sets one of the passwords, with one session", async () => {
    const caller = await signIn();
    const wanted = [next, "a third horse battery"];
    const outcomes = await Promise.allSettled(
      wanted.map((each) => account.domain.ownPassword.change(caller, { current: password, password: each })),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await account.domain.store.sessions.countDocuments({ user_id: user._id })).toBe(1);
  });
});
