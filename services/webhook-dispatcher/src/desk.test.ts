import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { ServiceError } from "@vvs/errors";
import type { Logger } from "@vvs/logging";
import type { CallerContext } from "@vvs/tenant";
import { createForPeople } from "./for-people.ts";
import type { ForPeople } from "./service.ts";
import { createTestDeliveries, HOOK, later, start, stranger, type TestDeliveries, tenant } from "./test-deliveries.ts";

type Entry = { action: string; target: string; details: Record<string, string> };

let kept: TestDeliveries;
let people: ForPeople;
let now: Date;
let audited: [CallerContext, Entry][];
let accountIsAway: boolean;
const caller: CallerContext = { tenant, actor: "usr_1", requestId: "req_1" };

beforeAll(async () => {
  kept = await createTestDeliveries(process.env.MONGODB_URI!);
  const logger = { info: () => undefined, error: () => undefined } as unknown as Logger;
  people = createForPeople({
    environment: "live",
    db: kept.db,
    audit: async (by, entry) => {
      if (accountIsAway) throw new ServiceError("service_unavailable");
      audited.push([by, entry]);
    },
    allowPrivateTargets: false,
    // Nothing is carried out here: what is begun stays as it is.
    stopping: AbortSignal.abort(),
    logger,
    now: () => now,
  });
});
beforeEach(async () => {
  await kept.clear();
  audited = [];
  accountIsAway = false;
  now = later(60);
});
afterAll(() => kept.close());

const all = { since: start };

describe("a replay", () => {
  test("is in the audit log, as done by who asked for it", async () => {
    const { _id, event_id } = await kept.add();
    const { delivery, replayed } = await people.desk.replay(caller, _id);
    expect([replayed, delivery.status, delivery.replays]).toEqual([true, "pending", [{ at: now, actor: "usr_1" }]]);
    const details = { event_id, attempts: "1", status: "failed" };
    expect(audited).toEqual([[caller, { action: "webhook_delivery.replayed", target: _id, details }]]);
  });

  test("that can’t be audited is not made", async () => {
    const { _id } = await kept.add();
    accountIsAway = true;
    await expect(people.desk.replay(caller, _id)).rejects.toMatchObject({ code: "service_unavailable" });
    await expect(people.desk.replayFailed(caller, "r1", all)).rejects.toMatchObject({ code: "service_unavailable" });
    await expect(people.desk.sendTest(caller, HOOK)).rejects.toMatchObject({ code: "service_unavailable" });
    expect((await kept.find(_id)).status).toBe("failed");
    expect(await kept.db.collection("replays").countDocuments()).toBe(0);
    expect(await kept.db.collection("deliveries").countDocuments()).toBe(1);
  });

  test("of another organization’s delivery is refused as one of none, and is in no log", async () => {
    const { _id } = await kept.add({ organization_id: stranger.organizationId });
    const refusals = await Promise.all(
      [_id, "dlv_none"].map((id) => people.desk.replay(caller, id).catch((error: ServiceError) => error)),
    );
    expect(refusals[0]).toEqual(refusals[1]);
    expect(refusals[0]).toMatchObject({ code: "not_found" });
    expect(audited).toEqual([]);
  });
});

describe("a replay of many", () => {
  test("says how many it takes in, and asked for again by its id changes nothing", async () => {
    await kept.add({ created_at: later(1) });
    await kept.add({ created_at: later(2) });
    expect(await people.desk.countFailed(tenant, all)).toBe(2);
    expect(await people.desk.replayFailed(caller, "r1", { ...all, webhookUrl: HOOK })).toBe(2);
    await kept.add({ created_at: later(3) });
    expect(await people.desk.replayFailed(caller, "r1", all)).toBe(2);
    expect(await kept.db.collection("replays").countDocuments()).toBe(1);
    const details = { since: start.toISOString(), count: "2", host: "subscriber.example" };
    expect(audited).toEqual([[caller, { action: "webhook_deliveries.replayed", target: "r1", details }]]);
  });

  test("is refused while five are under way", async () => {
    for (const id of ["a", "b", "c", "d", "e"]) await people.desk.replayFailed(caller, id, all);
    await expect(people.desk.replayFailed(caller, "f", all)).rejects.toMatchObject({ code: "limit_exceeded" });
    const other = { ...caller, tenant: stranger };
    expect(await people.desk.replayFailed(other, "f", all)).toBe(0);
  });

  test.each(["", "x".repeat(101)])("needs an id of 1–100 characters", async (id) => {
    await expect(people.desk.replayFailed(caller, id, all)).rejects.toMatchObject({ code: "invalid_request" });
  });
});

describe("a test event", () => {
  test("is a delivery that is due at once, is no monitor’s, and whose URL’s path is in no log", async () => {
    const { _id } = await people.desk.sendTest(caller, `${HOOK}?token=secret`);
    const delivery = await kept.find(_id);
    expect(delivery).toMatchObject({
      organization_id: "org_1",
      status: "pending",
      attempts: [],
      test: true,
      next_attempt_at: now,
      due_at: now,
      webhook_url: `${HOOK}?token=secret`,
    });
    expect(delivery.changes.length).toBeGreaterThan(0);
    expect(delivery).not.toHaveProperty("first_attempt_owed");
    const details = { host: "subscriber.example" };
    expect(audited).toEqual([[caller, { action: "webhook_test.sent", target: _id, details }]]);
  });

  test.each([
    "http://subscriber.example/hook",
    "https://127.0.0.1/hook",
    "https://[::1]/",
    "nowhere",
    "https://a:b@x.example",
  ])("does not go to %s, as no live monitor’s does", async (url) => {
    await expect(people.desk.sendTest(caller, url)).rejects.toMatchObject({
      code: "invalid_request",
      details: [{ path: "webhook_url" }],
    });
    expect(audited).toEqual([]);
  });

  test("is refused after 20 within a minute, and goes out again a minute later", async () => {
    for (let sent = 0; sent < 20; sent++) await people.desk.sendTest(caller, HOOK);
    await expect(people.desk.sendTest(caller, HOOK)).rejects.toMatchObject({ code: "rate_limited" });
    await people.desk.sendTest({ ...caller, tenant: stranger }, HOOK);
    now = later(121);
    await people.desk.sendTest(caller, HOOK);
  });
});
