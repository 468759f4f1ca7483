import { beforeEach, expect, test } from "@jest/globals";
import type { CallerContext } from "@vvs/tenant";
import { testAccount } from "../testing/account.ts";
import { callerOf, people } from "../testing/people.ts";

const DAY_MS = 24 * 60 * 60_000;
const account = await testAccount();
const { newUser } = people(account);
let caller: CallerContext;
let owner: string;
let payables: string;

beforeEach(async () => {
  const { store } = account.domain;
  await Promise.all([store.apiKeys, store.pendingNotifications].map((each) => each.deleteMany({})));
  const ada = await newUser();
  const bob = await newUser("payables", ada.organization_id);
  account.clock.now = new Date("2126-03-01T12:00:00.000Z");
  [owner, payables] = [ada._id, bob._id];
  caller = callerOf(ada);
  const settings = { frequency: "daily", kinds: ["keys"] } as const;
  await account.domain.notificationSettings.set({ ...caller, actor: payables }, settings);
});

async function newKey(name: string, { days, of = caller }: { days?: number; of?: CallerContext } = {}) {
  const expiresAt = days === undefined ? undefined : new Date(account.clock.now.getTime() + days * DAY_MS);
  const { key } = await account.domain.apiKeys.create(of, { name, ...(expiresAt && { expiresAt }) });
  return key;
}

/** Moves the clock by some days, reminds as two replicas do, and returns the owner's new notifications. */
async function remindedAfter(days: number): Promise<string[]> {
  account.advance(days * DAY_MS);
  await Promise.all([account.domain.remindOfKeys(), account.domain.remindOfKeys()]);
  await account.domain.remindOfKeys();
  const pending = await account.domain.store.pendingNotifications.findOne({ _id: owner });
  await account.domain.store.pendingNotifications.deleteOne({ _id: owner });
  return pending?.listed.map(({ title, lines }) => `${title}: ${lines.join()}`) ?? [];
}

test("members who manage keys are reminded 30, 7 and 1 days before a live key expires, once each", async () => {
  const { start, last_four } = await newKey("Billing", { days: 60 });
  expect(await remindedAfter(29)).toEqual([]);
  const title = `Billing (${start}…${last_four})`;
  const line = `${title}: Expires at 2126-04-30 12:00 UTC. Create its successor before, if it is still needed.`;
  for (const [days, expected] of [
    [1, [line]],
    [22, []],
    [1, [line]],
    [5, []],
    [1, [line]],
    [1, []],
  ] as const) {
    expect(await remindedAfter(days)).toEqual(expected);
  }
  expect(await account.domain.store.pendingNotifications.findOne({ _id: payables })).toBeNull();
});

test("nobody is reminded of a key that was created to end soon, that was replaced or revoked, or of a test key", async () => {
  await newKey("short", { days: 0.9 });
  await newKey("test", { days: 40, of: { ...caller, tenant: { ...caller.tenant, environment: "sandbox" } } });
  const [replaced, revoked] = [await newKey("replaced", { days: 40 }), await newKey("revoked", { days: 40 })];
  await account.domain.apiKeys.roll(caller, { keyId: replaced._id, overlapSeconds: 7 * 86_400 });
  await account.domain.apiKeys.revoke(caller, revoked._id);
  const successors = await account.domain.store.apiKeys.find({ rolled_at: { $exists: false } }).toArray();
  const successor = successors.find(({ name }) => name === "replaced")!;
  await account.domain.store.apiKeys.deleteOne({ _id: successor._id });
  expect([await remindedAfter(0), await remindedAfter(11), await remindedAfter(24)]).toEqual([[], [], []]);
});

test("they are reminded of a key that was not used for 90 days, and again after as many more", async () => {
  await newKey("unused");
  const used = await newKey("used");
  const lastUse = new Date("2126-03-03T08:00:00.000Z");
  const { organizationId: organization_id, environment } = caller.tenant;
  await account.domain.store.apiKeyUses.insertOne({
    _id: used._id,
    organization_id,
    environment,
    last_used_at: lastUse,
  });
  const titles = async (days: number) => (await remindedAfter(days)).map((text) => text.replace(/ \(.*?\)/, ""));
  expect(await titles(89)).toEqual([]);
  const never = "unused: Never used since its creation on 1 March 2126. Revoke it if nobody needs it.";
  const since = "used: Not used since 3 March 2126. Revoke it if nobody needs it.";
  expect(await titles(1)).toEqual([never]);
  expect(await titles(2)).toEqual([since]);
  expect(await titles(40)).toEqual([]);
  expect(await titles(50)).toEqual([never, since]);
});
