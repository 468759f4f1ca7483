import { beforeEach, describe, expect, test } from "@jest/globals";
import { createReplays } from "../actions/replay.ts";
import { endpointId } from "../endpoints/endpoint.ts";
import type { Delivery } from "../model/delivery.ts";
import { createTestDeliveries, HOOK, later, start, tenant } from "../testing/deliveries.ts";
import { createMonitorUrls } from "./monitor-urls.ts";
import { createDeliveryStore } from "./store.ts";

const NEW = "https://subscriber.example/new";
const kept = await createTestDeliveries();
const urls = createMonitorUrls(kept);
const replays = createReplays(kept);
beforeEach(() => kept.clear());

const changed = (url: string | null, version: number) => ({ _id: "mon_1", organization_id: "org_1", url, version });
const pending = (changes: Partial<Delivery> = {}) =>
  kept.add({ status: "pending", next_attempt_at: later(3_600), due_at: later(3_600), ...changes });
const now = () => new Date();
const by = () => ({ at: now(), actor: "usr_1" });

describe("a new URL of a monitor", () => {
  test("is where its pending deliveries go, by their schedule, held ones included", async () => {
    const waiting = await pending();
    const held = await pending({ held: true, next_attempt_at: later(7_200) });
    const others = await pending({ monitor_id: "mon_2" });
    const strange = await pending({ organization_id: "org_2" });
    const test = await pending({ test: true });
    await urls.change([changed(NEW, 1)]);
    const moved = { webhook_url: NEW, endpoint_id: endpointId("org_1", NEW), next_attempt_at: later(3_600) };
    expect(await kept.find(waiting._id)).toMatchObject(moved);
    expect(await kept.find(held._id)).toMatchObject(moved);
    expect(await kept.find(held._id)).not.toHaveProperty("held");
    for (const { _id } of [others, strange, test]) expect((await kept.find(_id)).webhook_url).toBe(HOOK);
  });

  test("that arrives again, or after a newer one, changes nothing", async () => {
    const { _id } = await pending();
    await urls.change([changed(NEW, 2)]);
    const before = await kept.find(_id);
    await urls.change([changed(NEW, 2), changed(null, 1)]);
    expect(await kept.find(_id)).toEqual(before);
    expect((await urls.find(["mon_1"])).get("mon_1")).toEqual(changed(NEW, 2));
  });

  test("is where an event goes that was recorded before it and arrives later", async () => {
    await urls.change([changed(NEW, 2)]);
    const { _id } = await pending({ url_version: 1 });
    await urls.apply([{ monitor_id: "mon_1", url_version: 1 }]);
    expect((await kept.find(_id)).webhook_url).toBe(NEW);
  });

  test("is where an attempt in flight is retried, which is recorded as it was made", async () => {
    const { _id } = await pending({ next_attempt_at: start });
    const store = createDeliveryStore(kept);
    const options = { now: later(1), leaseUntil: new Date(Date.now() + 60_000) };
    const [delivery] = await store.claim(await store.due(later(1), 1), options);
    await urls.change([changed(NEW, 1)]);
    const attempt = { ...delivery!.attempts[0]!, number: 2, started_at: later(2) };
    const outcome = { status: "pending", nextAttemptAt: later(30) } as const;
    expect(await store.record([{ delivery: delivery!, attempt, outcome }])).toEqual([true]);
    expect(await kept.find(_id)).toMatchObject({ webhook_url: NEW, next_attempt_at: later(30), attempts: [{}, {}] });
  });

  test.each([
    ["the old one took", { status: "delivered" }],
    ["failed for the last time at the old one", { status: "failed" }],
  ] as const)("is where an event goes that was in flight and that %s", async (_how, outcome) => {
    const { _id } = await pending({ next_attempt_at: start });
    const store = createDeliveryStore(kept);
    const options = { now: later(1), leaseUntil: new Date(Date.now() + 60_000) };
    const [delivery] = await store.claim(await store.due(later(1), 1), options);
    await urls.change([changed(NEW, 1)]);
    const attempt = { ...delivery!.attempts[0]!, number: 2, started_at: later(2), duration_ms: 1_000 };
    expect(await store.record([{ delivery: delivery!, attempt, outcome }])).toEqual([true]);
    const due = { status: "pending", next_attempt_at: later(3), due_at: later(3), attempts: [{}, {}] };
    expect(await kept.find(_id)).toMatchObject({ webhook_url: NEW, ...due });
    expect(await store.due(later(3), 1)).toMatchObject([{ _id, webhook_url: NEW }]);
  });

  test("is where replays of its earlier events go, single and bulk", async () => {
    const one = await kept.add({ status: "delivered" });
    const [first, second] = [await kept.add(), await kept.add({ monitor_id: "mon_2" })];
    await urls.change([changed(NEW, 1)]);
    expect(await replays.replay(tenant, one._id, by())).toBe("replayed");
    const filter = { since: start, until: now() };
    expect(await replays.replayBatch(tenant, filter, { ...by(), id: "r1" }, 10)).toBe(2);
    const found = await Promise.all([one, first, second].map(({ _id }) => kept.find(_id)));
    expect(found.map(({ status, webhook_url }) => [status, webhook_url])).toEqual([
      ["pending", NEW],
      ["pending", NEW],
      ["pending", HOOK],
    ]);
  });
});

describe("a monitor that lost its URL", () => {
  test("fails its pending deliveries, with the reason", async () => {
    const waiting = await pending();
    const inOrder = await pending({ next_attempt_at: null, first_attempt_owed: true });
    const dead = await pending({ lease: "dead", next_attempt_at: start });
    await urls.change([changed(null, 1)]);
    for (const { _id } of [waiting, inOrder, dead]) {
      const ended = await kept.find(_id);
      expect(ended).toMatchObject({ status: "failed", failure: "no_webhook_url", next_attempt_at: null });
      for (const field of ["first_attempt_owed", "lease", "url_removed"]) expect(ended).not.toHaveProperty(field);
    }
  });

  test.each([
    ["fails", { status: "pending", nextAttemptAt: later(30) }, { status: "failed", failure: "no_webhook_url" }],
    ["succeeds", { status: "delivered" }, { status: "delivered" }],
  ] as const)("lets an attempt in flight end that %s, and begins no other", async (_how, outcome, expected) => {
    const { _id } = await pending({ next_attempt_at: start });
    const store = createDeliveryStore(kept);
    const options = { now: later(1), leaseUntil: new Date(Date.now() + 60_000) };
    const [delivery] = await store.claim(await store.due(later(1), 1), options);
    await urls.change([changed(null, 1)]);
    expect((await kept.find(_id)).status).toBe("pending");
    const attempt = { ...delivery!.attempts[0]!, number: 2, started_at: later(2) };
    await store.record([{ delivery: delivery!, attempt, outcome }]);
    expect(await store.claim(await store.due(later(60), 1), options)).toEqual([]);
    await urls.endRemoved();
    const ended = await kept.find(_id);
    expect(ended).toMatchObject({ ...expected, attempts: [{}, {}] });
  });

  test("has no delivery replayed, single or bulk, until it has a URL again", async () => {
    const one = await kept.add();
    await urls.change([changed(null, 1)]);
    expect(await replays.replay(tenant, one._id, by())).toBe("no_webhook_url");
    const filter = { since: start, until: now() };
    const many = { ...by(), id: "r1" };
    expect(await replays.replayBatch(tenant, filter, many, 10)).toBe(1);
    expect(await replays.replayBatch(tenant, filter, many, 10)).toBe(0);
    expect(await kept.find(one._id)).toMatchObject({ status: "failed", failure: "no_webhook_url" });
    await urls.change([changed(NEW, 2)]);
    expect(await replays.replay(tenant, one._id, by())).toBe("replayed");
    const again = await kept.find(one._id);
    expect(again).toMatchObject({ status: "pending", webhook_url: NEW });
    expect(again).not.toHaveProperty("failure");
  });
});
