import { beforeEach, expect, test } from "@jest/globals";
import type { UserDocument } from "../store.ts";
import { onceFound, sharedParts, testAccount } from "../testing/account.ts";
import { people } from "../testing/people.ts";
import { createOwnSessions } from "./own-sessions.ts";
import { IDLE_TIMEOUT_MS } from "./sessions.ts";

const MINUTE = 60_000;
const account = await testAccount();
const { newUser, signIn: signInAs, entries: entriesOf } = people(account);
let user: UserDocument;
beforeEach(async () => {
  user = await newUser();
});

/** Signs in with a browser of that name. */
const signIn = (userAgent: string, as = user) => signInAs(as, { userAgent });
const over = { code: "unauthorized" };

test("a user sees their own sessions that have not ended, most recently used first, with browser, address, start and last use", async () => {
  const first = await signIn("Old/1");
  account.advance(IDLE_TIMEOUT_MS);
  const began = account.clock.now;
  const second = await signIn("Laptop/1");
  account.advance(10 * MINUTE);
  await signIn("Phone/1");
  await signIn("Stranger/1", await newUser());
  account.advance(10 * MINUTE);
  await account.domain.signIns.getSession(second.token);

  await expect(account.domain.sessions.list(first)).rejects.toMatchObject(over);
  const sessions = await account.domain.sessions.list(second);
  expect(sessions.map(({ userAgent, isCurrent }) => [userAgent, isCurrent])).toEqual([
    ["Laptop/1", true],
    ["Phone/1", false],
  ]);
  expect(sessions[0]).toMatchObject({
    clientAddress: second.clientAddress,
    beganAt: began,
    lastUsedAt: account.clock.now,
  });
  expect(JSON.stringify(sessions)).not.toContain(second.token);
});

test("a user ends one of their sessions, repeatably, and never that of another user", async () => {
  const mine = await signIn("Laptop/1");
  const lost = await signIn("Phone/1");
  const stranger = await signIn("Stranger/1", await newUser());
  const lostId = (await account.domain.sessions.list(mine)).find(({ isCurrent }) => !isCurrent)!.id;
  await account.domain.sessions.end(stranger, lostId);
  await expect(account.domain.signIns.getSession(lost.token)).resolves.toBeDefined();
  await account.domain.sessions.end(mine, lostId);
  await account.domain.sessions.end(mine, lostId);
  await expect(account.domain.signIns.getSession(lost.token)).rejects.toMatchObject(over);
  await expect(account.domain.sessions.end(lost, lostId)).rejects.toMatchObject(over);
  const { userId } = await account.domain.signIns.getSession(mine.token);
  expect(await entriesOf({ action: "user.sessions_ended", target: userId })).toMatchObject([
    { actor: userId, client_address: mine.clientAddress, request_id: "req_1", details: { sessions: 1 } },
  ]);
});

test("a user ends all sessions except the current one", async () => {
  const mine = await signIn("Laptop/1");
  const others = [await signIn("Phone/1"), await signIn("Library/1")];
  const stranger = await signIn("Stranger/1", await newUser());
  expect(await account.domain.sessions.endOthers(mine)).toBe(2);
  for (const { token } of others) await expect(account.domain.signIns.getSession(token)).rejects.toMatchObject(over);
  for (const { token } of [mine, stranger])
    await expect(account.domain.signIns.getSession(token)).resolves.toBeDefined();
  expect(await account.domain.sessions.endOthers(mine)).toBe(0);
});

test.each(["end", "endOthers"] as const)("%s does nothing for a session that ends meanwhile", async (method) => {
  const [mine, other] = [await signIn("Laptop/1"), await signIn("Phone/1")];
  const otherId = (await account.domain.sessions.list(mine)).find(({ isCurrent }) => !isCurrent)!.id;
  const liveSessions = onceFound(account, (token) => account.domain.signIns.signOut(token));
  const sessions = createOwnSessions({ ...sharedParts(account), liveSessions });
  await expect(sessions[method](mine, otherId)).rejects.toMatchObject(over);
  await expect(account.domain.signIns.getSession(other.token)).resolves.toBeDefined();
});
