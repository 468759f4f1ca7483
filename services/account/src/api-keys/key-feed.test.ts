import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { toProtoTenant } from "@vvs/tenant";
import { silentLogger as logger } from "@vvs/testing";
import { operator } from "../audit/audit.ts";
import { callerOfOrganization, type TestAccount, testAccount, until } from "../testing/account.ts";
import { createKeyFeed, type FeedStep, type KeyFeed } from "./key-feed.ts";
import type { KeyRecord } from "./key-records.ts";

let account: TestAccount;
let feed: KeyFeed;
let watching: number;

function createFeed(maxPending?: number): KeyFeed {
  const { store, keyRecords: records } = account.domain;
  const onWatchers = (count: number) => {
    watching = count;
  };
  return createKeyFeed({ store, records, logger, onWatchers, maxPending });
}

beforeEach(async () => {
  account = await testAccount();
  watching = 0;
  feed = createFeed();
});

afterEach(async () => {
  await feed.close();
  await account.close();
});

/** Returns a replica of the keys, as a gateway has one; with a position of an earlier one it is resumed. */
function replicate({ position = "", by = feed } = {}) {
  const hangUp = new AbortController();
  const steps: FeedStep[] = [];
  const keys = new Map<string, KeyRecord>();
  const ended = (async () => {
    for await (const step of by.watch(hangUp.signal, position)) {
      steps.push(step);
      if (step.case === "key") keys.set(step.value.id, step.value);
    }
  })();
  ended.catch(() => undefined);
  const count = (which: FeedStep["case"]) => steps.filter((step) => step.case === which).length;
  /** Waits for a heartbeat, ends the watch as its connection does, and returns the heartbeat's position. */
  const lastPosition = async () => {
    const had = count("heartbeat");
    await until(() => count("heartbeat") > had);
    hangUp.abort();
    await ended;
    const last = steps.findLast((step) => step.case === "heartbeat");
    return last!.value.position;
  };
  return { keys, steps, count, ended, hangUp, lastPosition, snapshot: () => until(() => count("snapshotDone") === 1) };
}

async function newKey() {
  const organization = await account.organization();
  const caller = callerOfOrganization(organization._id, "live");
  const { key } = await account.domain.apiKeys.create(caller, { name: "a" });
  return { organization, caller, key };
}

describe("a watch", () => {
  test("begins with all keys, once, and then reports that these were all", async () => {
    const { key, organization } = await newKey();
    const replica = replicate();
    await replica.snapshot();
    expect(replica.steps[0]).toEqual({
      case: "key",
      value: {
        id: key._id,
        hash: key.hash,
        pepperId: "p1",
        tenant: toProtoTenant({ organizationId: organization._id, environment: "live" }),
        scopes: key.scopes,
        expiresAt: undefined,
        revokedAt: undefined,
        limitPerMinute: 500,
        activeMonitors: 10_000,
        createdEntities: 250_000,
        openJobRows: 100_000,
        organizationSuspended: false,
      },
    });
    expect(replica.steps[1]).toEqual({ case: "snapshotDone", value: {} });
  });

  test("reports new and revoked keys, plans, suspensions and resumptions to every watcher", async () => {
    const { organization, caller, key } = await newKey();
    const replicas = [replicate(), replicate()];
    await Promise.all(replicas.map((replica) => replica.snapshot()));
    const see = (holds: (record: KeyRecord | undefined) => boolean) =>
      until(() => replicas.every(({ keys }) => holds(keys.get(key._id))));

    await account.domain.organizations.setPlan(operator, organization._id, {
      plan: "enterprise",
      limitPerMinute: 7_000,
    });
    await see((record) => record?.limitPerMinute === 7_000);
    await account.domain.organizations.suspend(operator, organization._id);
    await see((record) => record?.organizationSuspended === true);
    await account.domain.organizations.resume(operator, organization._id);
    await see((record) => record?.organizationSuspended === false);
    await account.domain.apiKeys.revoke(caller, key._id);
    await see((record) => record?.revokedAt !== undefined);
    const other = await newKey();
    await until(() => replicas.every(({ keys }) => keys.has(other.key._id)));
  });

  test("misses nothing that is written while it opens", async () => {
    const { caller } = await newKey();
    const creating = Promise.all(
      Array.from({ length: 15 }, (_, n) => account.domain.apiKeys.create(caller, { name: `key ${n}` })),
    );
    const replicas = Array.from({ length: 10 }, () => replicate());
    const ids = (await creating).map(({ key }) => key._id);
    await until(() => replicas.every(({ keys }) => ids.every((id) => keys.has(id))));
  });

  test("sends heartbeats while nothing changes", async () => {
    const replica = replicate();
    await until(() => replica.count("heartbeat") >= 2);
    expect(replica.steps[0]).toEqual({ case: "snapshotDone", value: {} });
  });

  test("omits keys that ended more than a day ago, but not those that ended recently", async () => {
    const { caller, key: old } = await newKey();
    await account.domain.apiKeys.revoke(caller, old._id);
    account.advance(25 * 60 * 60 * 1000);
    const { key: recent } = await account.domain.apiKeys.create(caller, { name: "b" });
    await account.domain.apiKeys.revoke(caller, recent._id);
    const replica = replicate();
    await replica.snapshot();
    expect([...replica.keys.keys()]).toEqual([recent._id]);
  });
});

describe("a watch that is resumed", () => {
  test("begins with only what changed since the last heartbeat, also at another replica, and goes on with changes", async () => {
    const [unchanged, revoked, suspended] = [await newKey(), await newKey(), await newKey()];
    const position = await replicate().lastPosition();
    await account.domain.apiKeys.revoke(revoked.caller, revoked.key._id);
    await account.domain.organizations.suspend(operator, suspended.organization._id);
    const { key: created } = await account.domain.apiKeys.create(unchanged.caller, { name: "new" });
    const other = createFeed();
    const replica = replicate({ position, by: other });
    await until(() => replica.count("heartbeat") > 0);
    expect(replica.steps[0]).toEqual({ case: "resumed", value: {} });
    expect(replica.count("snapshotDone")).toBe(0);
    expect([...replica.keys.keys()].toSorted()).toEqual([revoked.key._id, suspended.key._id, created._id].toSorted());
    expect(replica.keys.get(revoked.key._id)!.revokedAt).toBeDefined();
    expect(replica.keys.get(suspended.key._id)!.organizationSuspended).toBe(true);
    await account.domain.apiKeys.revoke(unchanged.caller, created._id);
    await until(() => replica.keys.get(created._id)!.revokedAt !== undefined);
    await other.close();
  });

  test.each([
    ["it is of no MongoDB", async () => "82FF"],
    [
      "a key was deleted by hand since",
      async (position: string) => {
        const { key } = await newKey();
        await account.domain.store.apiKeys.deleteOne({ _id: key._id });
        return position;
      },
    ],
    [
      "more changed than is worth resuming",
      async (position: string) => {
        const { organization } = await newKey();
        const values = Array.from({ length: 1_001 }, (_, n) => ({ $set: { name: `name ${n}` } }));
        const updates = values.map((update) => ({ updateOne: { filter: { _id: organization._id }, update } }));
        await account.domain.store.organizations.bulkWrite(updates);
        return position;
      },
    ],
  ])("begins with all keys if its position can't be used: %s", async (_why, spoil) => {
    const { key } = await newKey();
    const position = await spoil(await replicate().lastPosition());
    const replica = replicate({ position });
    await replica.snapshot();
    expect(replica.count("resumed")).toBe(0);
    expect(replica.keys.has(key._id)).toBe(true);
  });
});

describe("a watch ends with service_unavailable", () => {
  test("when the change stream breaks; a new one begins with the remaining keys", async () => {
    await newKey();
    const replica = replicate();
    await replica.snapshot();
    await account.domain.store.db.dropDatabase();
    await expect(replica.ended).rejects.toMatchObject({ code: "service_unavailable" });
    expect(watching).toBe(0);
    const again = replicate();
    await again.snapshot();
    expect(again.keys.size).toBe(0);
  });

  test("when a key is deleted by hand, because that can't be reported as a change", async () => {
    const { key } = await newKey();
    const replica = replicate();
    await replica.snapshot();
    await account.domain.store.apiKeys.deleteOne({ _id: key._id });
    await expect(replica.ended).rejects.toMatchObject({ code: "service_unavailable" });
  });

  test("when the database is unavailable", async () => {
    const replica = replicate();
    await replica.snapshot();
    await account.client.close();
    await expect(replica.ended).rejects.toMatchObject({ code: "service_unavailable" });
    account = await testAccount();
  });
});

test("a watch whose reader is too slow ends, instead of holding steps without limit", async () => {
  await feed.close();
  // A change of the organization is all of its keys at once, too many for this feed.
  const { caller } = await newKey();
  feed = createFeed(2);
  const slow = feed.watch(new AbortController().signal);
  expect((await slow.next()).value).toMatchObject({ case: "key" });
  expect((await slow.next()).value).toEqual({ case: "snapshotDone", value: {} });
  const other = replicate();
  await other.snapshot();
  for (const name of ["b", "c", "d"]) await account.domain.apiKeys.create(caller, { name });
  await until(() => other.keys.size === 4);
  await expect(slow.next()).rejects.toMatchObject({ code: "service_unavailable" });
  expect(watching).toBe(1);
});

test("a feed that closes ends its watches and refuses new ones", async () => {
  const replica = replicate();
  await replica.snapshot();
  await feed.close();
  await expect(replica.ended).resolves.toBeUndefined();
  expect(watching).toBe(0);
  await expect(replicate().ended).rejects.toMatchObject({ code: "service_unavailable" });
});

test("a watcher that hangs up is removed, and others continue", async () => {
  const [first, second] = [replicate(), replicate()];
  await Promise.all([first.snapshot(), second.snapshot()]);
  first.hangUp.abort();
  await first.ended;
  expect(watching).toBe(1);
  const { key } = await newKey();
  await until(() => second.keys.has(key._id));
  expect(first.keys.size).toBe(0);
});
