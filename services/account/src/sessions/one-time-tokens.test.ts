import { describe, expect, test } from "@jest/globals";
import { inTransaction } from "@vvs/mongo";
import type { UserTokenDocument } from "../store.ts";
import { testAccount, testKey } from "../testing/account.ts";
import { createOneTimeTokens, createTickets } from "./one-time-tokens.ts";
import { newSessionToken } from "./sessions.ts";

const lifetimeMs = 60_000;
const what = { user_id: "usr_1", password_hash: "hash" };
const account = await testAccount();

const now = () => account.clock.now;
const tokens = () =>
  createOneTimeTokens<UserTokenDocument>({ tokens: account.domain.store.passwordResets, lifetimeMs, now });
const tickets = (keys = account.webhookSecretKeys) =>
  createTickets({ keys, used: account.domain.store.passkeyChallenges, lifetimeMs, now });

describe("a one-time token", () => {
  const useUp = (token: string) => inTransaction(account.client, (session) => tokens().useUp(token, session));

  test("is found until it expires, and only its hash is stored", async () => {
    const [token, other] = [await tokens().issue(what), await tokens().issue({ ...what, user_id: "usr_2" })];
    account.advance(lifetimeMs - 1);
    expect(await tokens().find(token)).toMatchObject(what);
    expect(await tokens().find(newSessionToken())).toBeNull();
    account.advance(1);
    expect(await tokens().find(token)).toBeNull();
    const stored = JSON.stringify(await account.domain.store.passwordResets.find().toArray());
    for (const one of [token, other]) expect(stored).not.toContain(one);
  });

  test("is used up once, by one of two concurrent transactions that commit, and others stay", async () => {
    const [token, other] = [await tokens().issue(what), await tokens().issue(what)];
    const failed = inTransaction(account.client, async (session) => {
      await tokens().useUp(token, session);
      throw new Error("refused");
    });
    await expect(failed).rejects.toThrow("refused");
    expect((await Promise.all([useUp(token), useUp(token)])).sort()).toEqual([false, true]);
    expect(await useUp(token)).toBe(false);
    expect(await tokens().find(token)).toBeNull();
    expect(await tokens().find(other)).toMatchObject(what);
  });
});

describe("a ticket", () => {
  const issue = (from = tickets()) => from.issue("a purpose", "a browser", "some content").ticket.toString("base64url");

  test("contains what it was issued for, for its purpose and browser, until it expires", () => {
    const [ticket, other] = [issue(), issue()];
    expect(ticket).not.toBe(other);
    account.advance(lifetimeMs - 1);
    const read = tickets().read(ticket, "a purpose", "a browser");
    expect(read).toEqual({ content: "some content", expiresAt: new Date(now().getTime() + 1) });
    expect(tickets().read(ticket, "another purpose", "a browser")).toBeUndefined();
    expect(tickets().read(ticket, "a purpose", "another browser")).toBeUndefined();
    expect(tickets().read("no ticket", "a purpose", "a browser")).toBeUndefined();
    account.advance(1);
    expect(tickets().read(ticket, "a purpose", "a browser")).toBeUndefined();
  });

  test("is read while its key is in the ring, also behind another one", () => {
    const ticket = issue();
    expect(tickets([testKey("w2"), ...account.webhookSecretKeys]).read(ticket, "a purpose", "a browser")).toBeDefined();
    expect(tickets([testKey("w2")]).read(ticket, "a purpose", "a browser")).toBeUndefined();
  });

  test("is stored only once it is used up, as a hash, and is used up once, however it is spelled", async () => {
    const stored = () => account.domain.store.passkeyChallenges.find().toArray();
    const ticket = issue();
    expect(await stored()).toEqual([]);
    const same = `${ticket}==`;
    expect((await Promise.all([tickets().useUp(ticket), tickets().useUp(same)])).sort()).toEqual([false, true]);
    expect(await tickets().useUp(ticket)).toBe(false);
    expect(await stored()).toHaveLength(1);
    expect(JSON.stringify(await stored())).not.toContain(ticket);
  });
});
