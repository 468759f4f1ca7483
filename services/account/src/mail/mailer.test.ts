import { beforeEach, expect, test } from "@jest/globals";
import { inTransaction } from "@vvs/mongo";
import { silentLogger as logger } from "@vvs/testing";
import { type Mail, MailRefusedError } from "../model/mail.ts";
import { testAccount, until } from "../testing/account.ts";
import { createMailbox } from "./mailbox.ts";
import { createMailer, GIVE_UP_MS, LEASE_MS, runMailer } from "./mailer.ts";

const HOUR_MS = 60 * 60_000;
const account = await testAccount();
let outcomes: string[];
beforeEach(async () => {
  outcomes = [];
  await account.domain.store.mails.deleteMany({});
});

const mail: Mail = { kind: "sign_up", to: "a@b.example", subject: "Confirm", text: "https://x.example/?token=secret" };

function mailer(send: (id: string, mail: Mail) => Promise<void>) {
  const metrics = { attempted: (outcome: string) => void outcomes.push(outcome), close: () => undefined };
  const { mails } = account.domain.store;
  const keys = account.webhookSecretKeys;
  return createMailer({ mails, keys, transport: { send }, metrics, logger, now: () => account.clock.now });
}

const enqueue = () => inTransaction(account.client, (session) => account.domain.mailQueue.enqueue(session, mail));
const waiting = () => account.domain.store.mails.find().toArray();

test("a mail is sent once with what was enqueued, and nothing of it stays", async () => {
  await enqueue();
  const sent: Mail[] = [];
  const sender = mailer(async (_id, each) => void sent.push(each));
  expect(await sender.sendNext()).toBe(true);
  expect(await sender.sendNext()).toBe(false);
  expect(sent).toEqual([mail]);
  expect(await waiting()).toEqual([]);
  expect(outcomes).toEqual(["sent"]);
});

test("mail about accounts is sent before all notifications that are due, though they were queued earlier", async () => {
  const kinds = ["notification", "notification", "password_reset", "sign_up"] as const;
  for (const kind of kinds) {
    account.clock.now = new Date(account.clock.now.getTime() + HOUR_MS);
    await inTransaction(account.client, (session) => account.domain.mailQueue.enqueue(session, { ...mail, kind }));
  }
  const sent: string[] = [];
  const sender = mailer(async (_id, { kind }) => void sent.push(kind));
  while (await sender.sendNext());
  expect(sent).toEqual(["password_reset", "sign_up", "notification", "notification"]);
});

test("a mail whose cause did not happen is not sent", async () => {
  const failing = inTransaction(account.client, async (session) => {
    await account.domain.mailQueue.enqueue(session, mail);
    throw new Error("the cause fails");
  });
  await expect(failing).rejects.toThrow("the cause fails");
  expect(await waiting()).toEqual([]);
});

test("what waits can't be read in the database", async () => {
  await enqueue();
  const [stored] = await waiting();
  expect(Buffer.from(stored!.content.sealed.box).includes("secret")).toBe(false);
  const { content: _content, ...readable } = stored!;
  expect(JSON.stringify(readable)).not.toMatch(/secret|b\.example/);
});

test("a mail that fails is tried again, less and less often, with the same id, until a day is over", async () => {
  await enqueue();
  const ids: string[] = [];
  const sender = mailer(async (id) => {
    ids.push(id);
    throw new Error("away");
  });
  const began = account.clock.now.getTime();
  const times: number[] = [];
  while (await sender.sendNext()) {
    const [left] = await waiting();
    if (!left) break;
    times.push(left.next_attempt_at.getTime() - account.clock.now.getTime());
    account.clock.now = left.next_attempt_at;
  }
  expect(times[0]).toBeGreaterThanOrEqual(22_500);
  expect(times[0]).toBeLessThanOrEqual(30_000);
  expect(times.at(-1)).toBeGreaterThanOrEqual(HOUR_MS / 2 - HOUR_MS / 8);
  expect(times.at(-1)).toBeLessThanOrEqual(HOUR_MS / 2);
  expect(account.clock.now.getTime() - began).toBeGreaterThan(GIVE_UP_MS - HOUR_MS);
  expect(new Set(ids).size).toBe(1);
  expect(outcomes.at(-1)).toBe("given_up");
  expect(await waiting()).toEqual([]);
});

test("a mail that is refused for good is given up immediately", async () => {
  await enqueue();
  await mailer(async () => {
    throw new MailRefusedError("550");
  }).sendNext();
  expect(outcomes).toEqual(["given_up"]);
  expect(await waiting()).toEqual([]);
});

test("a mail whose replica died while sending is sent by another when the lease is over, and by none before", async () => {
  await enqueue();
  const died = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const dying = mailer(() => {
    begun.resolve();
    return died.promise;
  });
  const attempt = dying.sendNext();
  await begun.promise;
  const sent: Mail[] = [];
  const other = mailer(async (_id, each) => void sent.push(each));
  account.advance(LEASE_MS - 1);
  expect(await other.sendNext()).toBe(false);
  account.advance(1);
  expect(await other.sendNext()).toBe(true);
  expect(sent).toEqual([mail]);
  died.reject(new Error("cut"));
  await attempt;
  expect(await waiting()).toEqual([]);
});

test("one mail under way at several replicas is begun by one of them", async () => {
  await enqueue();
  const ids: string[] = [];
  const senders = Array.from({ length: 4 }, () => mailer(async (id) => void ids.push(id)));
  await Promise.all(senders.map((sender) => sender.sendNext()));
  expect(ids).toHaveLength(1);
});

test("a mailer at work puts mails into the local mailbox, the newest first, and ends when stopped", async () => {
  const mailbox = createMailbox({ mailbox: account.domain.store.mailbox, now: () => account.clock.now });
  const working = runMailer(mailer(mailbox.send), logger);
  try {
    await enqueue();
    await until(async () => (await mailbox.list()).length === 1);
    account.advance(1_000);
    await enqueue();
    await until(async () => (await mailbox.list()).length === 2);
  } finally {
    await working.stop();
  }
  const [newest, oldest] = await mailbox.list();
  expect(newest).toMatchObject(mail);
  expect(newest!.received_at > oldest!.received_at).toBe(true);
  expect(await waiting()).toEqual([]);
});
