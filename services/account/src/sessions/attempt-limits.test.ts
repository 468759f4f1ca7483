import { beforeEach, describe, expect, test } from "@jest/globals";
import { forCaller } from "@vvs/deadline";
import { operator } from "../audit/audit.ts";
import { createSignIns } from "../sign-in/sign-in.ts";
import { createIdentityProviders } from "../sso/identity-providers.ts";
import { sharedParts, testAccount, tokenIn } from "../testing/account.ts";
import { createPasswordResets } from "../users/password-reset.ts";
import { createHashQueue, createPasswords } from "../users/passwords.ts";
import {
  createAttemptLimits,
  MAX_FAILURES,
  MAX_LINK_USES,
  MAX_MAILS,
  MAX_SESSIONS,
  WINDOW_MS,
} from "./attempt-limits.ts";

const password = "correct horse";
const wrong = "wrong horse";
const refused = { code: "unauthorized", message: "The email address or the password is wrong." };
const limited = { code: "rate_limited" };
const account = await testAccount();
let users = 0;
/** Every test begins with new windows. */
beforeEach(() => account.advance(60 * 60_000));

async function newUser() {
  const { _id: organizationId } = await account.organization();
  const email = `user${++users}@example.com`;
  const user = await account.domain.users.create(operator, { organizationId, email, password });
  return { user, email, clientAddress: `203.0.${users}.9` };
}

const signIn = (input: { email: string; password: string; clientAddress: string; deviceToken?: string }) =>
  account.domain.signIns.signIn(input);
const outcomeOf = (attempt: Promise<unknown>) =>
  attempt.then(
    () => "ok",
    ({ code }: { code: string }) => code,
  );
/** Fewer than the queue of hashes refuses. */
const AT_ONCE = 50;
/** Returns the outcomes of failing sign-ins, which are concurrent up to a point. */
async function fail(count: number, of: (n: number) => { email: string; clientAddress: string }): Promise<string[]> {
  const codes: string[] = [];
  while (codes.length < count) {
    const length = Math.min(AT_ONCE, count - codes.length);
    const attempt = (_: unknown, n: number) => outcomeOf(signIn({ ...of(codes.length + n), password: wrong }));
    codes.push(...(await Promise.all(Array.from({ length }, attempt))));
  }
  return codes;
}
/** Counts failing sign-ins without the work of checking passwords. */
async function countFailures(count: number, of: (n: number) => { email: string; clientAddress: string }) {
  const { signIns } = createAttemptLimits({ store: account.domain.store, now: () => account.clock.now });
  const numbers = Array.from({ length: count }, (_, n) => n);
  const worker = async (_: unknown, first: number) => {
    for (const n of numbers.filter((each) => each % 20 === first)) await signIns.count(of(n));
  };
  await Promise.all(Array.from({ length: 20 }, worker));
}
/** Counts failing sign-ins up to the last one that the network may make, which fails as well. */
async function useUpNetwork(of: (n: number) => { email: string; clientAddress: string }): Promise<void> {
  await countFailures(MAX_FAILURES.network - 1, of);
  expect(await fail(1, () => of(MAX_FAILURES.network - 1))).toEqual(["unauthorized"]);
}
const documents = () => account.domain.store.signInLimits.countDocuments();

describe("failed sign-ins", () => {
  test("block an account after ten, even concurrent ones, and unblock it again", async () => {
    const { email } = await newUser();
    const codes = await fail(MAX_FAILURES.account + 5, (n) => ({ email, clientAddress: `198.51.100.${n}` }));
    expect(codes.filter((code) => code === "unauthorized")).toHaveLength(MAX_FAILURES.account);
    expect(codes.filter((code) => code === "rate_limited")).toHaveLength(5);
    const right = { email, password, clientAddress: "192.0.2.1" };
    await expect(signIn(right)).rejects.toMatchObject({ ...limited, retryAfterSeconds: 900 });
    account.advance(WINDOW_MS);
    await expect(signIn(right)).resolves.toBeDefined();
  });

  test("of unknown addresses count too, so that they reveal no accounts", async () => {
    const attempt = (n: number) =>
      signIn({ email: "ghost@example.com", password: wrong, clientAddress: `198.51.100.${n}` });
    for (let n = 0; n < MAX_FAILURES.account; n++) await expect(attempt(n)).rejects.toMatchObject(refused);
    await expect(attempt(200)).rejects.toMatchObject(limited);
  });

  test("block a client address that tries many accounts, and no other address", async () => {
    const { email } = await newUser();
    const attempt = (n: number) => ({ email: `g${n}@example.com`, clientAddress: "192.0.2.77" });
    await countFailures(MAX_FAILURES.address - 1, attempt);
    expect(await fail(1, () => attempt(MAX_FAILURES.address))).toEqual(["unauthorized"]);
    await expect(signIn({ email, password, clientAddress: "192.0.2.77" })).rejects.toMatchObject(limited);
    await expect(signIn({ email, password, clientAddress: "192.0.2.78" })).resolves.toBeDefined();
  });

  test.each([
    ["2001:db8:77::/48", (n: number) => `2001:db8:77:${n.toString(16)}::1`, "2001:db8:78::1"],
    ["198.18.0.0/24", (n: number) => `198.18.0.${n}`, "198.18.1.1"],
  ])("block the network %s, however many addresses of it are used, and no other network", async (_name, of, other) => {
    const { email } = await newUser();
    const attempt = (n: number) => ({ email: `n${n}-${email}`, clientAddress: of(n) });
    await useUpNetwork(attempt);
    expect(await fail(1, () => attempt(MAX_FAILURES.network))).toEqual(["rate_limited"]);
    await expect(signIn({ email, password, clientAddress: other })).resolves.toBeDefined();
  });

  test("that are refused write nothing: no document for their email address, and none for their client address", async () => {
    const { email } = await newUser();
    const from = (n: number) => ({ email: `d${n}-${email}`, clientAddress: `2001:db8:99:${n.toString(16)}::1` });
    await useUpNetwork(from);
    const before = await documents();
    const codes = await fail(100, (n) => from(MAX_FAILURES.network + n));
    expect(new Set(codes)).toEqual(new Set(["rate_limited"]));
    expect(await documents()).toBe(before);
  });

  test("are refused without a write as soon as the last of them is counted", async () => {
    const { signIns } = createAttemptLimits({ store: account.domain.store, now: () => account.clock.now });
    for (let device = 0; device < 50; device++) {
      const attempt = { email: "seen@example.com", clientAddress: "192.0.2.9", device: `device${device}` };
      for (let n = 0; n < MAX_FAILURES.device; n++) await signIns.count(attempt);
      await expect(signIns.refuseFull(attempt)).rejects.toMatchObject(limited);
    }
  });

  test("of one address do not use up what all strangers together may fail", async () => {
    const total = async () => (await account.domain.store.signInLimits.findOne({ _id: "total" }))?.attempts ?? 0;
    const codes = await fail(MAX_FAILURES.address + 100, (n) => ({
      email: `t${n}@example.com`,
      clientAddress: "192.0.2.99",
    }));
    expect(codes.filter((code) => code === "rate_limited")).toHaveLength(100);
    expect(await total()).toBe(MAX_FAILURES.address);
  });

  test("of others stay counted when the user signs in on a new device, and the sign-in itself does not", async () => {
    const { email, clientAddress } = await newUser();
    const from = (n: number) => ({ email, clientAddress: `198.51.100.${n}` });
    await fail(MAX_FAILURES.account - 2, from);
    await signIn({ email, password, clientAddress });
    // Concurrent attempts are counted in any order.
    const outcomes = (await fail(3, (n) => from(100 + n))).toSorted();
    expect(outcomes).toEqual(["rate_limited", "unauthorized", "unauthorized"]);
  });

  test("of a device are forgotten when it signs its user in, and those of the account are not", async () => {
    const { email, clientAddress } = await newUser();
    const { deviceToken } = await signIn({ email, password, clientAddress });
    const onDevice = { email, clientAddress, deviceToken: deviceToken! };
    await fail(MAX_FAILURES.account, (n) => ({ email, clientAddress: `198.51.100.${n}` }));
    for (let round = 0; round < 2; round++) {
      await fail(MAX_FAILURES.device - 1, () => onDevice);
      await signIn({ ...onDevice, password });
    }
    await expect(signIn({ email, password, clientAddress })).rejects.toMatchObject(limited);
  });

  test("are the only ones that count: frequent sign-ins are not blocked", async () => {
    const { email, clientAddress } = await newUser();
    for (let n = 0; n < MAX_FAILURES.account + 1; n++) await signIn({ email, password, clientAddress });
    const counter = await account.domain.store.signInLimits.findOne({ _id: `address:${clientAddress}` });
    expect(counter?.attempts).toBe(0);
  });
});

describe("a person whom strangers attack", () => {
  /** Makes strangers use up every limit that they share with the person. */
  async function attack(email: string, clientAddress: string): Promise<void> {
    await countFailures(MAX_FAILURES.account, () => ({ email, clientAddress: "198.51.100.66" }));
    await countFailures(MAX_FAILURES.address, (n) => ({ email: `a${n}-${email}`, clientAddress }));
    const window_ends_at = new Date(account.clock.now.getTime() + WINDOW_MS);
    const full = { $set: { attempts: MAX_FAILURES.total, window_ends_at } };
    await account.domain.store.signInLimits.updateOne({ _id: "total" }, full, { upsert: true });
  }

  test("can still sign in on a device that signed them in before, and nobody else can use it", async () => {
    const { email, clientAddress } = await newUser();
    const { deviceToken } = await signIn({ email, password, clientAddress });
    const eve = await newUser();
    const { deviceToken: ofEve } = await signIn({ ...eve, password });
    await attack(email, clientAddress);
    const right = { email, password, clientAddress };
    await expect(signIn(right)).rejects.toMatchObject(limited);
    await expect(signIn({ ...right, deviceToken: ofEve! })).rejects.toMatchObject(limited);
    await expect(signIn({ ...right, deviceToken: `${deviceToken!.slice(0, -1)}x` })).rejects.toMatchObject(limited);
    await expect(signIn({ ...right, deviceToken: deviceToken! })).resolves.toBeDefined();
  });

  test("can still request a link for a new password on such a device", async () => {
    const { email, clientAddress } = await newUser();
    const { deviceToken } = await signIn({ email, password, clientAddress });
    const request = (token?: string) =>
      account.domain.passwordResets.request({ email, clientAddress, ...(token && { deviceToken: token }) });
    for (let n = 0; n < MAX_MAILS.account; n++) await request();
    await expect(request()).rejects.toMatchObject(limited);
    for (let n = 0; n < MAX_MAILS.device; n++) await request(deviceToken);
    await expect(request(deviceToken)).rejects.toMatchObject(limited);
  });

  test.each([
    ["a link for a new password", "of a sign-up", "resend"],
    ["the email of a sign-up", "for a new password", "reset"],
  ])("can still request %s after strangers requested emails %s", async (_request, _kind, strangers) => {
    const email = `attacked-${strangers}@example.com`;
    const { signUps, passwordResets } = account.domain;
    const resend = (clientAddress: string) => signUps.resend({ email, clientAddress });
    const reset = (clientAddress: string) => passwordResets.request({ email, clientAddress });
    const [theirs, own] = strangers === "resend" ? [resend, reset] : [reset, resend];
    for (let n = 0; n < MAX_MAILS.account; n++) await theirs(`198.51.100.${n}`);
    await expect(theirs("198.51.100.99")).rejects.toMatchObject(limited);
    await expect(own("192.0.2.1")).resolves.toBeUndefined();
  });

  test("can guess on a known device only ten times as well", async () => {
    const { email, clientAddress } = await newUser();
    const { deviceToken } = await signIn({ email, password, clientAddress });
    const guess = () => signIn({ email, password: wrong, clientAddress, deviceToken: deviceToken! });
    for (let n = 0; n < MAX_FAILURES.device; n++) await expect(guess()).rejects.toMatchObject(refused);
    await expect(guess()).rejects.toMatchObject(limited);
  });

  test("can still confirm who they are: that counts for their session, not for the account or the address", async () => {
    const { email, clientAddress } = await newUser();
    const { token } = await signIn({ email, password, clientAddress });
    await attack(email, clientAddress);
    const confirmed = account.domain.ownPassword.reauthenticate({ token, clientAddress }, password);
    await expect(confirmed).resolves.toBeDefined();
  });
});

describe("what strangers and tenants store", () => {
  test("is limited: emails that a network requests", async () => {
    const { mails } = createAttemptLimits({ store: account.domain.store, now: () => account.clock.now });
    const request = (n: number) => mails.count("reset", { email: `m${n}@example.com`, clientAddress: `198.18.5.${n}` });
    await Promise.all(Array.from({ length: MAX_MAILS.network }, (_, n) => request(n)));
    await expect(request(MAX_MAILS.network)).rejects.toMatchObject(limited);
  });

  test("is limited: sessions of one user", async () => {
    const { user, email, clientAddress } = await newUser();
    await signIn({ email, password, clientAddress });
    const filter = { _id: `sessions:${user._id}` };
    await account.domain.store.signInLimits.updateOne(filter, { $set: { attempts: MAX_SESSIONS } });
    await expect(signIn({ email, password, clientAddress })).rejects.toMatchObject(limited);
  });
});

describe("hashes", () => {
  test("of a caller that hung up meanwhile are not computed", async () => {
    const { email, clientAddress } = await newUser();
    const caller = new AbortController();
    const parts = sharedParts(account);
    const hashes: string[] = [];
    const queue = createHashQueue();
    const real = createPasswords((call, work) =>
      queue(call, () => {
        if (caller.signal.aborted) hashes.push(call.owner.class);
        return work();
      }),
    );
    const signIns = createSignIns({
      ...parts,
      users: account.domain.users,
      identityProviders: createIdentityProviders([]),
      secondFactor: account.domain.secondFactor,
      passwords: {
        ...real,
        matches(...input) {
          caller.abort();
          return real.matches(...input);
        },
      },
    });
    const attempt = forCaller(caller.signal, () => signIns.signIn({ email, password, clientAddress }));
    await expect(attempt).rejects.toMatchObject({ code: "service_unavailable" });
    expect(hashes).toEqual([]);
  });

  test("by the link of one email are limited", async () => {
    const { email, clientAddress } = await newUser();
    const { store } = account.domain;
    await account.domain.passwordResets.request({ email, clientAddress });
    const resets = createPasswordResets({
      ...account.domain,
      ...sharedParts(account),
      texts: undefined as never,
      // So the link stays, as if many calls came at the same time.
      passwords: { ...createPasswords(), hash: () => Promise.reject(new Error("hashed")) },
    });
    const token = tokenIn((await account.mailsTo(email)).at(-1));
    const complete = () => resets.complete({ token, password: "another horse", clientAddress });
    for (let n = 0; n < MAX_LINK_USES; n++) await expect(complete()).rejects.toThrow("hashed");
    await expect(complete()).rejects.toMatchObject(limited);
    expect(await store.signInLimits.countDocuments({ _id: /^link:/ })).toBe(1);
  });
});
