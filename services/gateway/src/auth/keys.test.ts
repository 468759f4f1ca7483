import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { generateApiKey } from "@vvs/api-keys";
import { ApiKeyService } from "@vvs/proto/account/v1/api_keys";
import { type Client, createClient } from "@vvs/rpc";
import { captureLogs } from "@vvs/testing";
import { type FakeAccount, serveFakeAccount } from "../testing/fake-services.ts";
import { until } from "../testing/gateway.ts";
import { createKeyCheck, FRESH_MS, GRACE_MS, type KeyCheck } from "./key-check.ts";
import { type KeyReplica, startKeyReplica } from "./key-replica.ts";

const { logger, lines } = captureLogs();
const [newer, older] = [
  { id: "p2", key: randomBytes(32) },
  { id: "p1", key: randomBytes(32) },
];

let account: FakeAccount;
let client: Client<typeof ApiKeyService>;
let ending: AbortController;
let replica: KeyReplica;
let checkKey: KeyCheck;
/** How far the gateway's clock is ahead, in milliseconds. */
let skewMs: number;

beforeEach(async () => {
  skewMs = 0;
  account = await serveFakeAccount([older], logger);
  client = createClient(ApiKeyService, { address: `127.0.0.1:${account.port}`, caller: "gateway", tls: undefined });
  ending = new AbortController();
  const clock = () => performance.now() + skewMs;
  replica = startKeyReplica({ account: client, logger, clock, stopping: ending.signal });
  checkKey = createKeyCheck({ replica, account: client, peppers: [newer, older], clock, now: () => new Date() });
  await until(() => replica.ageMs() < FRESH_MS);
});

afterEach(async () => {
  ending.abort();
  client.close();
  await account.close();
});

/** Makes account unavailable, and waits until the gateway has noticed. */
async function loseAccount(): Promise<void> {
  lines.length = 0;
  await account.close();
  await until(() => lines.some(({ msg }) => String(msg).startsWith("watching API keys fails")));
}

/** Makes the watch silent, and waits until the gateway has read what account sent before. */
async function silenceWatch(): Promise<void> {
  account.freeze(true);
  await until(() => replica.ageMs() > 100);
}

/** Creates a key and waits until the watch reports it. */
async function watchedKey(options: Parameters<FakeAccount["createKey"]>[0] = {}) {
  const { value, record } = account.createKey(options);
  await until(() => replica.find(record.hash) !== undefined);
  return { value, record };
}

describe("while account is available", () => {
  test("a key with an older pepper is also known, without asking account", async () => {
    const { value, record } = await watchedKey({ scopes: ["entities:read"], limitPerMinute: 7 });
    const key = await checkKey(value);
    expect(key).toMatchObject({
      id: record.id,
      tenant: { organizationId: record.tenant!.organizationId, environment: "live" },
      limitPerMinute: 7,
      activeMonitors: 25,
      organizationSuspended: false,
    });
    expect([...key!.scopes]).toEqual(["entities:read"]);
    expect(account.reads()).toBe(0);
  });

  test("a key may be used before the watch reports it", async () => {
    const { value, record } = account.createKey({ unwatched: true });
    expect((await checkKey(value))?.id).toBe(record.id);
    expect(account.reads()).toBe(1);
  });

  test("a rolled key works until its end, and is refused afterwards without asking account", async () => {
    const { value, record } = await watchedKey();
    const end = new Date(Date.now() + 3_600_000);
    account.end(record, end);
    await until(() => replica.find(record.hash)?.expiresAt !== undefined);
    const checkAt = (now: Date) =>
      createKeyCheck({
        replica,
        account: client,
        peppers: [newer, older],
        clock: () => performance.now(),
        now: () => now,
      });
    expect((await checkAt(new Date(end.getTime() - 1))(value))?.id).toBe(record.id);
    expect(await checkAt(end)(value)).toBeUndefined();
    expect(account.reads()).toBe(0);
  });

  test("a revoked key is refused as soon as the watch reports it, without asking account", async () => {
    const { value, record } = await watchedKey();
    account.revoke(record);
    await until(async () => (await checkKey(value)) === undefined);
    expect(account.reads()).toBe(0);
  });

  test("an expired key is refused", async () => {
    const { value } = await watchedKey({ expiresAt: new Date(Date.now() - 1) });
    expect(await checkKey(value)).toBeUndefined();
  });

  test("text without a key's format and checksum is refused without asking account; an unknown key after asking", async () => {
    const real = generateApiKey("live");
    for (const text of ["", "secret", real.slice(0, -1), real.replace(/.$/, (last) => (last === "a" ? "b" : "a"))]) {
      expect(await checkKey(text)).toBeUndefined();
    }
    expect(account.reads()).toBe(0);
    expect(await checkKey(real)).toBeUndefined();
    expect(account.reads()).toBe(1);
  });
});

describe("a watch that ended with its connection", () => {
  test("is resumed: only what changed meanwhile is sent again, and nothing is logged", async () => {
    const { value, record } = await watchedKey();
    const { record: revoked, value: revokedValue } = await watchedKey();
    lines.length = 0;
    account.freeze(true);
    account.revoke(revoked);
    const { value: created, record: createdRecord } = account.createKey();
    account.endWatches();
    account.freeze(false);
    await until(() => account.resumed().length === 2 && replica.find(createdRecord.hash) !== undefined);
    expect(account.resumed()).toEqual([false, true]);
    expect(await checkKey(revokedValue)).toBeUndefined();
    expect((await checkKey(value))?.id).toBe(record.id);
    expect((await checkKey(created))?.id).toBe(createdRecord.id);
    expect(account.reads()).toBe(0);
    expect(lines.filter(({ level }) => level !== "debug")).toEqual([]);
  });

  test("begins with all keys once a day, which leaves out those that ended", async () => {
    await watchedKey();
    skewMs = 25 * 60 * 60 * 1000;
    account.endWatches();
    await until(() => account.resumed().length === 2 && replica.ageMs() < FRESH_MS);
    expect(account.resumed()).toEqual([false, false]);
  });
});

describe("while the watch is silent", () => {
  test("account is asked for each key, so a key revoked meanwhile is refused", async () => {
    const { value, record } = await watchedKey();
    await silenceWatch();
    skewMs = FRESH_MS + 1_000;
    expect((await checkKey(value))?.id).toBe(record.id);
    expect(account.reads()).toBe(1);
    account.revoke(record);
    expect(await checkKey(value)).toBeUndefined();
  });
});

describe.each([
  ["fresh", 0],
  ["stale", FRESH_MS + 1_000],
])("while the replica is %s", (_, ageMs) => {
  test("20 unknown keys are asked for at once; more get service_unavailable, even real ones, and known keys are used", async () => {
    const { value, record } = await watchedKey();
    const confirmed = account.createKey({ unwatched: true });
    expect((await checkKey(confirmed.value))?.id).toBe(confirmed.record.id);
    const created = account.createKey({ unwatched: true });
    if (ageMs > 0) await silenceWatch();
    skewMs = ageMs;
    const release = account.holdReads();
    const invented = Array.from({ length: 20 }, () => generateApiKey("live"));
    const answers = Promise.all([...invented, invented[0]!].map((each) => checkKey(each)));
    await expect(checkKey(generateApiKey("live"))).rejects.toMatchObject({ code: "service_unavailable" });
    await expect(checkKey(created.value)).rejects.toMatchObject({ code: "service_unavailable" });
    const known = Promise.all([checkKey(value), checkKey(confirmed.value)]);
    await until(() => account.reads() >= 22);
    release();
    expect((await answers).every((each) => each === undefined)).toBe(true);
    expect((await known).map((each) => each?.id)).toEqual([record.id, confirmed.record.id]);
    expect((await checkKey(created.value))?.id).toBe(created.record.id);
  });
});

describe("while account is unavailable", () => {
  test("keys stay valid for 60 s after they were confirmed; afterwards requests fail", async () => {
    const { value, record } = await watchedKey();
    const revoked = await watchedKey();
    account.revoke(revoked.record);
    await until(async () => (await checkKey(revoked.value)) === undefined);
    await loseAccount();

    skewMs = FRESH_MS + 1_000;
    expect((await checkKey(value))?.id).toBe(record.id);
    expect(await checkKey(revoked.value)).toBeUndefined();
    await expect(checkKey(generateApiKey("live"))).rejects.toMatchObject({ code: "service_unavailable" });
    skewMs = GRACE_MS - 5_000;
    expect((await checkKey(value))?.id).toBe(record.id);
    skewMs = GRACE_MS + 10_000;
    await expect(checkKey(value)).rejects.toMatchObject({ code: "service_unavailable" });
  });

  test("a key that account confirmed stays valid for 60 s", async () => {
    const { value, record } = account.createKey({ unwatched: true });
    account.freeze(true);
    skewMs = FRESH_MS + 1_000;
    expect((await checkKey(value))?.id).toBe(record.id);
    await loseAccount();
    skewMs += GRACE_MS - 5_000;
    expect((await checkKey(value))?.id).toBe(record.id);
    skewMs += 10_000;
    await expect(checkKey(value)).rejects.toMatchObject({ code: "service_unavailable" });
  });

  test("the watch reconnects by itself and then has all current keys", async () => {
    const { value } = await watchedKey();
    const { port } = account;
    await account.close();
    account = await serveFakeAccount([older], logger, port);
    const { value: created, record } = account.createKey();
    await until(() => replica.find(record.hash) !== undefined);
    expect((await checkKey(created))?.id).toBe(record.id);
    expect(await checkKey(value)).toBeUndefined();
  });
});
