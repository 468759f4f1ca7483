import { beforeEach, describe, expect, test } from "@jest/globals";
import { ServiceError } from "@vvs/errors";
import type { Logger } from "@vvs/logging";
import { translateMongoError } from "@vvs/mongo";
import type { CallerContext } from "@vvs/tenant";
import { hookedDb } from "@vvs/testing";
import { type Db, MongoNetworkError } from "mongodb";
import { createDeliveryApi } from "../domain.ts";
import { newEndpoint } from "../endpoints/circuit.ts";
import { type Endpoint, endpointId } from "../endpoints/endpoint.ts";
import { createTestDeliveries, HOOK, later, start, stranger, tenant } from "../testing/deliveries.ts";

const DAY = 24 * 3_600;
type Entry = { action: string; target: string; details: Record<string, string> };

const kept = await createTestDeliveries();
let now: Date;
let audited: [CallerContext, Entry][];
let accountIsUnavailable: boolean;
const caller: CallerContext = { tenant, actor: "usr_1", requestId: "req_1" };

const apiOn = (db: Db) => {
  const logger = { info: () => undefined, error: () => undefined } as unknown as Logger;
  return createDeliveryApi({
    environment: "live",
    db,
    audit: async (by, entry) => {
      if (accountIsUnavailable) throw new ServiceError("service_unavailable");
      audited.push([by, entry]);
    },
    allowPrivateTargets: false,
    // No replay is carried out in this test.
    stopping: AbortSignal.abort(),
    logger,
    now: () => now,
  });
};

const api = apiOn(kept.db);
beforeEach(async () => {
  await kept.clear();
  audited = [];
  accountIsUnavailable = false;
  now = later(60);
});

const all = { since: start };
const refused = { code: "service_unavailable", outcomeUnknown: false };
const unknown = { code: "service_unavailable", outcomeUnknown: true };

describe("a replay", () => {
  test("is in the audit log, with the user who requested it", async () => {
    const { _id, event_id } = await kept.add();
    const { delivery, replayed } = await api.actions.replay(caller, _id);
    expect([replayed, delivery.status, delivery.replays]).toEqual([true, "pending", [{ at: now, actor: "usr_1" }]]);
    const details = { event_id, attempts: "1", status: "failed" };
    expect(audited).toEqual([[caller, { action: "webhook_delivery.replayed", target: _id, details }]]);
  });

  test.each(["deliveries", "monitor_urls"])(
    "that was made has an unknown outcome where reading %s fails afterwards, and a refusal where it fails before",
    async (collection) => {
      const { _id } = await kept.add();
      let failsNow = true;
      const fail = () => {
        if (failsNow) throw new MongoNetworkError("read ECONNRESET");
      };
      const onUpdate = hookedDb(kept.db, "deliveries", "updateOne", async () => {
        failsNow = true;
      });
      const readFails =
        collection === "deliveries"
          ? hookedDb(onUpdate, "deliveries", "findOne", async () => fail())
          : hookedDb(onUpdate, collection, "find", fail);
      const { actions } = apiOn(readFails);
      await expect(actions.replay(caller, _id).catch(translateMongoError)).resolves.toMatchObject(refused);
      expect((await kept.find(_id)).status).toBe("failed");
      failsNow = false;
      await expect(actions.replay(caller, _id).catch(translateMongoError)).resolves.toMatchObject(unknown);
      expect((await kept.find(_id)).status).toBe("pending");
    },
  );

  test("that can’t be audited is not made", async () => {
    const { _id } = await kept.add();
    accountIsUnavailable = true;
    await expect(api.actions.replay(caller, _id)).rejects.toMatchObject({ code: "service_unavailable" });
    await expect(api.actions.replayFailed(caller, "r1", all)).rejects.toMatchObject({ code: "service_unavailable" });
    await expect(api.actions.sendTest(caller, HOOK)).rejects.toMatchObject({ code: "service_unavailable" });
    expect((await kept.find(_id)).status).toBe("failed");
    expect(await kept.db.collection("replays").countDocuments()).toBe(0);
    expect(await kept.db.collection("deliveries").countDocuments()).toBe(1);
  });

  test("of another organization’s delivery is refused like one of a missing delivery, and not audited", async () => {
    const { _id } = await kept.add({ organization_id: stranger.organizationId });
    const refusals = await Promise.all(
      [_id, "dlv_none"].map((id) => api.actions.replay(caller, id).catch((error: ServiceError) => error)),
    );
    expect(refusals[0]).toEqual(refusals[1]);
    expect(refusals[0]).toMatchObject({ code: "not_found" });
    expect(audited).toEqual([]);
  });
});

describe("a bulk replay", () => {
  test("returns how many it includes, and changes nothing when it is requested again with the same id", async () => {
    await kept.add({ created_at: later(1) });
    await kept.add({ created_at: later(2) });
    expect(await api.actions.countFailed(tenant, all)).toBe(2);
    expect(await api.actions.replayFailed(caller, "r1", { ...all, webhookUrl: HOOK })).toBe(2);
    await kept.add({ created_at: later(3) });
    expect(await api.actions.replayFailed(caller, "r1", all)).toBe(2);
    expect(await kept.db.collection("replays").countDocuments()).toBe(1);
    const details = { since: start.toISOString(), count: "2", host: "subscriber.example" };
    expect(audited).toEqual([[caller, { action: "webhook_deliveries.replayed", target: "r1", details }]]);
  });

  test("is refused while five are running", async () => {
    for (const id of ["a", "b", "c", "d", "e"]) await api.actions.replayFailed(caller, id, all);
    await expect(api.actions.replayFailed(caller, "f", all)).rejects.toMatchObject({ code: "limit_exceeded" });
    const other = { ...caller, tenant: stranger };
    expect(await api.actions.replayFailed(other, "f", all)).toBe(0);
  });

  test.each(["", "x".repeat(101)])("needs an id of 1–100 characters", async (id) => {
    await expect(api.actions.replayFailed(caller, id, all)).rejects.toMatchObject({ code: "invalid_request" });
  });
});

describe("a test event", () => {
  test("is due immediately and belongs to no monitor, and the path of its URL is not audited", async () => {
    const { _id } = await api.actions.sendTest(caller, `${HOOK}?token=secret`);
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
  ])("does not go to %s, like events of live monitors", async (url) => {
    await expect(api.actions.sendTest(caller, url)).rejects.toMatchObject({
      code: "invalid_request",
      details: [{ path: "webhook_url" }],
    });
    expect(audited).toEqual([]);
  });

  test("is refused after 20 within a minute, and sent again a minute later", async () => {
    for (let sent = 0; sent < 20; sent++) await api.actions.sendTest(caller, HOOK);
    await expect(api.actions.sendTest(caller, HOOK)).rejects.toMatchObject({ code: "rate_limited" });
    await api.actions.sendTest({ ...caller, tenant: stranger }, HOOK);
    now = later(121);
    await api.actions.sendTest(caller, HOOK);
  });
});

describe("an endpoint that is dismissed", () => {
  const endpointOf = (organizationId: string) => ({
    ...newEndpoint({ _id: endpointId(organizationId, HOOK), organization_id: organizationId, url: HOOK }, start),
    failing_since: start,
    last_failure_at: later(DAY),
    rev: 1,
  });
  const flagged = async () => {
    const { endpoints } = await api.endpoints.list(tenant, { limit: 10, flaggedOnly: true, now: later(DAY) });
    return endpoints.map(({ url }) => url);
  };

  test("is audited first, by its host, and then no longer flagged", async () => {
    await kept.db.collection<Endpoint>("endpoints").insertOne(endpointOf("org_1"));
    accountIsUnavailable = true;
    await expect(api.actions.dismissEndpoint(caller, HOOK)).rejects.toMatchObject(refused);
    expect(await flagged()).toEqual([HOOK]);
    accountIsUnavailable = false;
    await api.actions.dismissEndpoint(caller, HOOK);
    expect(await flagged()).toEqual([]);
    const details = { host: "subscriber.example" };
    const target = endpointId("org_1", HOOK);
    expect(audited).toEqual([[caller, { action: "webhook_endpoint.dismissed", target, details }]]);
  });

  test("of another organization is refused like one that does not exist, and not audited", async () => {
    await kept.db.collection<Endpoint>("endpoints").insertOne(endpointOf("org_2"));
    await expect(api.actions.dismissEndpoint(caller, HOOK)).rejects.toMatchObject({ code: "not_found" });
    expect(audited).toEqual([]);
  });
});
