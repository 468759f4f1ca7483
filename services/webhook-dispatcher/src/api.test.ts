import { create } from "@bufbuild/protobuf";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { PageRequestSchema } from "@vvs/proto/common/v1/common";
import { WebhookDispatcherService } from "@vvs/proto/webhook/v1/webhook";
import { createClient, serveRpc } from "@vvs/rpc";
import { toProtoCaller } from "@vvs/tenant";
import { atEnd, silentLogger as logger, untilEnd } from "@vvs/testing";
import { callers, createHandlers } from "./api.ts";
import { webhookBody } from "./attempt/request.ts";
import { signaturesOf } from "./attempt/signature.ts";
import { createDeliveryApi } from "./domain.ts";
import type { Delivery } from "./model/delivery.ts";
import { createTestDeliveries, HOOK, later, start, stranger, tenant } from "./testing/deliveries.ts";

const kept = await createTestDeliveries();
const caller = toProtoCaller({ tenant, actor: "usr_1", requestId: "req_1" });
const page = create(PageRequestSchema, { limit: 10 });
const now = () => later(60);

const options = {
  audit: async () => undefined,
  allowPrivateTargets: false,
  stopping: AbortSignal.abort(),
  logger,
  now,
};
const live = createDeliveryApi({ ...options, environment: "live", db: kept.db });
const shared = { host: "127.0.0.1", port: 0, tls: undefined, logger };
const handlers = createHandlers({ live, sandbox: live }, now);
const server = await serveRpc({ ...shared, service: WebhookDispatcherService, handlers, callers });
atEnd(() => server.close(100));
const client = (name: string) =>
  untilEnd(
    createClient(WebhookDispatcherService, { address: `127.0.0.1:${server.port}`, caller: name, tls: undefined }),
  );
const [dashboard, gateway] = [client("dashboard"), client("gateway")];
beforeEach(() => kept.clear());

describe("a delivery", () => {
  test("is returned whole: its changes, attempts and replays, and whether an attempt is in flight", async () => {
    const replay = { at: later(30), actor: "usr_2" };
    const changes = [{ field: "sam_registration.cage", previous: null, current: "1ABC2" }];
    const leased = { status: "pending", lease: "somebody", next_attempt_at: later(61) } as const;
    const { _id } = await kept.add({ ...leased, test: true, replays: [replay], changes });
    const { delivery } = await dashboard.getDelivery({ caller, deliveryId: _id });
    expect(delivery).toMatchObject({ id: _id, status: "pending", test: true, underWay: true, webhookUrl: HOOK });
    expect(delivery!.changes[0]).toMatchObject({ field: "sam_registration.cage", current: "1ABC2" });
    expect(delivery!.changes[0]!.previous).toBeUndefined();
    expect(delivery!.attempts[0]).toMatchObject({
      number: 1,
      statusCode: 500,
      error: "http_status",
      durationMs: 41n,
      answerExcerpt: "what the subscriber said",
    });
    expect(delivery!.replays.map(({ at, actor }) => ({ at: timestampDate(at!), actor }))).toEqual([replay]);
  });

  test("is returned with what each attempt sent, which its signatures sign", async () => {
    const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
    const { _id } = await kept.add({ external_id: "V-17" });
    const delivery = await kept.find(_id);
    const [attempt] = delivery.attempts;
    const sent = { secrets: [secret], eventId: delivery.event_id, sentAt: start, body: webhookBody(delivery, start) };
    await kept.db
      .collection<Delivery>("deliveries")
      .updateOne({ _id }, { $set: { attempts: [{ ...attempt!, signatures: signaturesOf(sent) }, attempt!] } });
    const { externalId, attempts } = (await dashboard.getDelivery({ caller, deliveryId: _id })).delivery!;
    expect(externalId).toBe("V-17");
    const [signed, older] = attempts;
    const headers = Object.fromEntries(signed!.headers.map(({ name, value }) => [name, value]));
    expect(JSON.parse(signed!.body)).toMatchObject({ external_id: "V-17", delivered_at: start.toISOString() });
    const { service, standard } = signaturesOf({ ...sent, body: signed!.body });
    expect(headers).toMatchObject({
      "webhook-id": delivery.event_id,
      "webhook-signature": standard,
      "X-Service-Signature": service,
      "X-Delivery-Attempt": "1",
    });
    expect(JSON.stringify(signed!.headers)).not.toContain("whsec_");
    expect([older!.body, older!.headers]).toEqual([signed!.body, []]);
    const { deliveries } = await dashboard.listDeliveries({ caller, page });
    expect(deliveries[0]!.attempts.map((each) => [each.body, each.headers])).toEqual([
      ["", []],
      ["", []],
    ]);
  });

  test("with an expired lease has no attempt in flight", async () => {
    const { _id } = await kept.add({ status: "pending", lease: "dead", next_attempt_at: later(59) });
    expect((await dashboard.getDelivery({ caller, deliveryId: _id })).delivery!.underWay).toBe(false);
  });

  test("of another organization is refused like one that does not exist, for reading and for replaying", async () => {
    const { _id } = await kept.add({ organization_id: stranger.organizationId });
    for (const deliveryId of [_id, "dlv_none"]) {
      const message = "There is no such delivery.";
      await expect(dashboard.getDelivery({ caller, deliveryId })).rejects.toMatchObject({ code: "not_found", message });
      await expect(dashboard.replayDelivery({ caller, deliveryId })).rejects.toMatchObject({
        code: "not_found",
        message,
      });
    }
  });

  test("is listed and replayed", async () => {
    const { _id } = await kept.add();
    const { deliveries } = await dashboard.listDeliveries({ caller, page, status: "failed", webhookUrl: HOOK });
    expect(deliveries.map(({ id }) => id)).toEqual([_id]);
    const { delivery, replayed } = await dashboard.replayDelivery({ caller, deliveryId: _id });
    expect([replayed, delivery!.status, timestampDate(delivery!.nextAttemptAt!)]).toEqual([true, "pending", now()]);
    expect((await dashboard.listDeliveries({ caller, page, status: "failed" })).deliveries).toEqual([]);
  });
});

const since = timestampFromDate(start);

test.each<[string, () => Promise<unknown>, string]>([
  ["an unknown status", () => dashboard.listDeliveries({ caller, page, status: "lost" }), "status"],
  ["a page without a limit", () => dashboard.listDeliveries({ caller }), "limit"],
  ["a count without a start time", () => dashboard.countFailed({ caller, filter: {} }), "filter.since"],
  ["a replay without a start time", () => dashboard.replayFailed({ caller, replayId: "r1" }), "filter.since"],
  ["a replay without an id", () => dashboard.replayFailed({ caller, filter: { since } }), "replay_id"],
  ["a list of 0 endpoints", () => dashboard.listEndpoints({ caller }), "limit"],
  ["a list of too many endpoints", () => dashboard.listEndpoints({ caller, limit: 101 }), "limit"],
  ["a test event without a URL", () => dashboard.sendTestEvent({ caller, webhookUrl: "" }), "webhook_url"],
])("%s is refused", async (_name, call, path) => {
  await expect(call()).rejects.toMatchObject({ code: "invalid_request", details: [{ path }] });
});

test.each(Object.keys(callers) as (keyof typeof callers)[])("only the dashboard may call %s", async (method) => {
  const call = gateway[method] as (request: object) => Promise<unknown>;
  await expect(call({ caller })).rejects.toMatchObject({ code: "forbidden" });
});
