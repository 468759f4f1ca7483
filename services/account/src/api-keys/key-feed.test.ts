import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { operator } from "../audit/audit.ts";
import { callerOfOrganization, createTestAccount, logger, type TestAccount, until } from "../testing/account.ts";
import { createKeyFeed, type FeedStep, type KeyFeed } from "./key-feed.ts";
import type { KeyRecord } from "./key-records.ts";

let account: TestAccount;
let feed: KeyFeed;
let watching: number;

beforeEach(async () => {
  account = await createTestAccount(process.env.MONGODB_URI!);
  watching = 0;
  feed = createKeyFeed({
    store: account.domain.store,
    records: account.domain.keyRecords,
    logger,
    onWatchers(count) {
      watching = count;
    },
  });
});

afterEach(async () => {
  await feed.close();
  await account.close();
});

/** A replica as a gateway keeps it. */
function replicate() {
  const hangUp = new AbortController();
  const steps: FeedStep[] = [];
  const keys = new Map<string, KeyRecord>();
  const ended = (async () => {
    for await (const step of feed.watch(hangUp.signal)) {
      steps.push(step);
      if (step.kind === "key") keys.set(step.record.id, step.record);
    }
  })();
  ended.catch(() => undefined);
  const count = (kind: FeedStep["kind"]) => steps.filter((step) => step.kind === kind).length;
  return { keys, steps, count, ended, hangUp, snapshot: () => until(() => count("snapshot_done") === 1) };
}

async function newKey() {
  const organization = await account.organization();
  const caller = callerOfOrganization(organization._id, "live");
  const { key } = await account.domain.apiKeys.create(caller, { name: "a" });
  return { organization, caller, key };
}

describe("a watch", () => {
  test("begins with all keys there are, once, then the word that these were all", async () => {
    const { key, organization } = await newKey();
    const replica = replicate();
    await replica.snapshot();
    expect(replica.steps[0]).toEqual({
      kind: "key",
      record: {
        id: key._id,
        hash: key.hash,
        pepperId: "p1",
        tenant: { organizationId: organization._id, environment: "live" },
        scopes: key.scopes,
        expiresAt: undefined,
        revokedAt: undefined,
        limitPerMinute: 500,
        activeMonitors: 10_000,
        organizationSuspended: false,
      },
    });
    expect(replica.steps[1]).toEqual({ kind: "snapshot_done" });
  });

  test("tells every watcher of new and revoked keys, plans, suspensions and resumptions", async () => {
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

  test("beats while nothing happens", async () => {
    const replica = replicate();
    await until(() => replica.count("heartbeat") >= 2);
    expect(replica.steps[0]).toEqual({ kind: "snapshot_done" });
  });

  test("leaves out keys that ended more than a day ago, and sends those that just did", async () => {
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

describe("a watch ends with service_unavailable", () => {
  test("when the change stream breaks; a new one begins with what is there", async () => {
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

  test("when a key is deleted by hand, as that can't be told as a change", async () => {
    const { key } = await newKey();
    const replica = replicate();
    await replica.snapshot();
    await account.domain.store.apiKeys.deleteOne({ _id: key._id });
    await expect(replica.ended).rejects.toMatchObject({ code: "service_unavailable" });
  });

  test("when the database is away, from the start too", async () => {
    const replica = replicate();
    await replica.snapshot();
    await account.client.close();
    await expect(replica.ended).rejects.toMatchObject({ code: "service_unavailable" });
    account = await createTestAccount(process.env.MONGODB_URI!);
  });
});

test("a feed that closes ends its watches and refuses new ones", async () => {
  const replica = replicate();
  await replica.snapshot();
  await feed.close();
  await expect(replica.ended).resolves.toBeUndefined();
  expect(watching).toBe(0);
  await expect(replicate().ended).rejects.toMatchObject({ code: "service_unavailable" });
});

test("a watcher that hangs up is let go, and others go on", async () => {
  const [first, second] = [replicate(), replicate()];
  await Promise.all([first.snapshot(), second.snapshot()]);
  first.hangUp.abort();
  await first.ended;
  expect(watching).toBe(1);
  const { key } = await newKey();
  await until(() => second.keys.has(key._id));
  expect(first.keys.size).toBe(0);
});
