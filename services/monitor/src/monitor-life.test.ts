import { randomBytes } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { IdempotencySchema } from "@vvs/proto/common/v1/common";
import { VerificationRequestedSchema } from "@vvs/proto/events/v1/events";
import { createTestWorld, HOUR, SECOND, someCaller, someMonitor, type TestWorld } from "./test-world.ts";

const everyActive = { status: "active", entityId: "", lastOutcome: undefined } as const;
let world: TestWorld;
let live: TestWorld;
beforeAll(async () => {
  const uri = process.env.MONGODB_URI!;
  world = await createTestWorld({ uri });
  live = await createTestWorld({ uri, environment: "live", prefix: world.prefix });
});
afterAll(async () => {
  await live.close();
  await world.close();
});

const requestsOf = async (id: string) =>
  (await world.published("verification.requested", VerificationRequestedSchema)).filter(
    ({ run }) => run?.monitorId === id,
  );
const later = (ms: number) => new Date(world.clock.at.getTime() + ms);
const someKey = (change: { key?: string; bodyHash?: Uint8Array } = {}) =>
  create(IdempotencySchema, {
    apiKeyId: newId("key"),
    path: "/v1/monitors",
    key: randomBytes(8).toString("hex"),
    bodyHash: Buffer.from("body"),
    ...change,
  });

describe("a new monitor", () => {
  test("starts its first run at once, and is due again one interval later", async () => {
    const caller = someCaller();
    const wanted = someMonitor({ checks: ["sam_registration", "tin_match"] });
    const { value, replayed } = await world.life.create(caller, wanted);
    expect([replayed, value.next_run_at]).toEqual([false, later(15 * SECOND)]);
    expect(await world.store.find(caller.tenant, value._id)).toEqual(value);
    expect(await requestsOf(value._id)).toMatchObject([
      { recordId: `${value._id}:1`, entityId: wanted.entityId, checks: [1, 2], run: { runSeq: 1n } },
    ]);
    expect(await world.runs.countDocuments({ monitor_id: value._id })).toBe(1);
  });

  test("needs an entity that the caller sees", async () => {
    const wanted = someMonitor({ entityId: world.unknownEntity });
    await expect(world.life.create(someCaller(), wanted)).rejects.toMatchObject({ code: "entity_not_found" });
  });

  test.each([
    ["sandbox", "http://127.0.0.1/hook"],
    ["sandbox", "ftp://example.com/hook"],
    ["live", "http://example.com/hook"],
  ] as const)("is refused with a webhook_url that may not be called: %s %s", async (environment, webhookUrl) => {
    const target = environment === "live" ? live : world;
    await expect(target.life.create(someCaller(environment), someMonitor({ webhookUrl }))).rejects.toMatchObject({
      code: "invalid_request",
      details: [{ path: "webhook_url" }],
    });
  });

  test("is seen by its own organization and environment alone", async () => {
    const caller = someCaller();
    const { value } = await world.life.create(caller, someMonitor());
    const strangers = [
      world.store.find(someCaller().tenant, value._id),
      live.store.find({ ...caller.tenant, environment: "live" }, value._id),
    ];
    expect(await Promise.all(strangers)).toEqual([undefined, undefined]);
    expect((await world.store.list(someCaller().tenant, everyActive, { limit: 10 } as never)).items).toEqual([]);
    await expect(world.life.cancel(someCaller().tenant, value._id)).rejects.toMatchObject({
      code: "monitor_not_found",
    });
  });
});

describe("the cap of active monitors", () => {
  test("holds against creations at the same time in several replicas, and a refused one leaves nothing", async () => {
    const replica = await createTestWorld({ uri: process.env.MONGODB_URI!, prefix: world.prefix });
    const caller = someCaller();
    const wanted = someMonitor({ activeLimit: 3 });
    const attempts = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) => (index % 2 ? replica : world).life.create(caller, wanted)),
    );
    await replica.close();
    const refused = attempts.flatMap((attempt) => (attempt.status === "rejected" ? [attempt.reason.code] : []));
    expect(refused).toEqual(Array(7).fill("limit_exceeded"));
    expect(await world.monitors.countDocuments({ organization_id: caller.tenant.organizationId })).toBe(3);
    expect(await world.runs.countDocuments({ organization_id: caller.tenant.organizationId })).toBe(3);
    expect(await world.store.activeMonitors(caller.tenant)).toBe(3);
  });

  test("counts neither canceled monitors nor those of others", async () => {
    const caller = someCaller();
    for (let round = 0; round < 5; round++) {
      const { value } = await world.life.create(caller, someMonitor({ activeLimit: 1 }));
      await Promise.all([world.life.cancel(caller.tenant, value._id), world.life.cancel(caller.tenant, value._id)]);
    }
    expect(await world.store.activeMonitors(caller.tenant)).toBe(0);
  });
});

describe("an idempotency key", () => {
  test("gives the first answer again, whatever became of the monitor since", async () => {
    const caller = someCaller();
    const wanted = someMonitor({ idempotency: someKey() });
    const first = await world.life.create(caller, wanted);
    await world.life.update(caller.tenant, first.value._id, {
      frequency: "weekly",
      webhookUrl: "https://example.com/2",
    });
    await world.life.cancel(caller.tenant, first.value._id);
    const again = await world.life.create(caller, wanted);
    expect(again.replayed).toBe(true);
    expect(again.value).toMatchObject({
      _id: first.value._id,
      status: "active",
      frequency: "daily",
      webhook_url: wanted.webhookUrl,
      next_run_at: first.value.next_run_at,
    });
    expect(await requestsOf(first.value._id)).toHaveLength(1);
  });

  test("is refused with another body", async () => {
    const caller = someCaller();
    const key = someKey();
    await world.life.create(caller, someMonitor({ idempotency: key }));
    const other = someMonitor({ idempotency: { ...key, bodyHash: Buffer.from("other") } });
    await expect(world.life.create(caller, other)).rejects.toMatchObject({ code: "idempotency_mismatch" });
  });

  test("of a refused creation is free again", async () => {
    const caller = someCaller();
    const idempotency = someKey();
    await expect(
      world.life.create(caller, someMonitor({ idempotency, entityId: world.unknownEntity })),
    ).rejects.toMatchObject({ code: "entity_not_found" });
    expect((await world.life.create(caller, someMonitor({ idempotency }))).replayed).toBe(false);
  });
});

describe("a changed monitor", () => {
  test("keeps its next run where only the URL changes", async () => {
    const caller = someCaller();
    const { value } = await world.life.create(caller, someMonitor());
    const changed = await world.life.update(caller.tenant, value._id, {
      frequency: undefined,
      webhookUrl: "https://example.com/other",
    });
    expect(changed).toEqual({ ...value, webhook_url: "https://example.com/other" });
  });

  test("runs next one new interval after its last run was due", async () => {
    const caller = someCaller("live");
    const { value } = await live.life.create(caller, someMonitor({ frequency: "monthly" }));
    live.pass(50.5 * HOUR);
    const hourly = await live.life.update(caller.tenant, value._id, { frequency: "hourly", webhookUrl: undefined });
    expect(hourly.next_run_at).toEqual(new Date(value.created_at.getTime() + 51 * HOUR));
    const weekly = await live.life.update(caller.tenant, value._id, { frequency: "weekly", webhookUrl: undefined });
    expect(weekly.next_run_at).toEqual(new Date(value.created_at.getTime() + 7 * 24 * HOUR));
  });

  test("can't be changed once canceled", async () => {
    const caller = someCaller();
    const { value } = await world.life.create(caller, someMonitor());
    await world.life.cancel(caller.tenant, value._id);
    const change = { frequency: "hourly", webhookUrl: undefined } as const;
    await expect(world.life.update(caller.tenant, value._id, change)).rejects.toMatchObject({
      code: "invalid_request",
    });
  });
});

test("a canceled monitor is told as canceled again and again, and is no longer listed", async () => {
  const caller = someCaller();
  const { value } = await world.life.create(caller, someMonitor());
  const first = await world.life.cancel(caller.tenant, value._id);
  expect([first.status, first.next_run_at]).toEqual(["canceled", undefined]);
  expect(await world.life.cancel(caller.tenant, value._id)).toEqual(first);
  expect((await world.store.list(caller.tenant, everyActive, { limit: 10 } as never)).items).toEqual([]);
  expect((await world.store.find(caller.tenant, value._id))?.status).toBe("canceled");
});
