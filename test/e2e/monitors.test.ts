import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { eventually } from "@vvs/testing";
import { Webhook } from "standardwebhooks";
import Stripe from "stripe";
import { whenAdmitted } from "../support/api.ts";
import { createOrganization, type TestOrganization } from "../support/organization.ts";
import { type Subscriber, startSubscriber } from "../support/subscriber.ts";

let organization: TestOrganization;
let changing: string;
const subscribers: Subscriber[] = [];

beforeAll(async () => {
  organization = await createOrganization();
  const { body } = await organization.sandbox.post("/v1/entities/lookup", { identifiers: { uei: "SANDBXCHNGE1" } });
  changing = body.id;
});

afterAll(async () => {
  for (const subscriber of subscribers) subscriber.close();
  const { monitors } = (await organization.sandbox.get("/v1/monitors?limit=100")).body;
  for (const { id } of monitors) await organization.sandbox.delete(`/v1/monitors/${id}`);
});

async function subscribe(...parameters: Parameters<typeof startSubscriber>): Promise<Subscriber> {
  const subscriber = await startSubscriber(...parameters);
  subscribers.push(subscriber);
  return subscriber;
}

const create = (webhook_url: string, more: object = {}) =>
  whenAdmitted(() =>
    organization.sandbox.post("/v1/monitors", {
      entity_id: changing,
      checks: ["sam_registration"],
      frequency: "hourly",
      webhook_url,
      ...more,
    }),
  );

describe("a monitor", () => {
  test.concurrent("has every documented field and runs immediately", async () => {
    const { status, body } = await create("https://example.com/hook", {
      frequency: undefined,
      checks: ["sam_registration", "sam_registration"],
    });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^mon_[0-9a-z]{26}$/),
      entity_id: changing,
      checks: ["sam_registration"],
      frequency: "daily",
      webhook_url: "https://example.com/hook",
      status: "active",
      created_at: expect.stringMatching(/Z$/),
      next_run_at: expect.stringMatching(/Z$/),
      consecutive_errors: 0,
    });
    const ran = await eventually(async () => {
      const monitor = (await organization.sandbox.get(`/v1/monitors/${body.id}`)).body;
      return monitor.last_run ? monitor : undefined;
    });
    const { data_as_of: dates, ...run } = ran.last_run;
    expect(run).toEqual({
      at: expect.any(String),
      outcome: "pass",
      verification_id: expect.stringMatching(/^ver_/),
    });
    expect(dates).toEqual({ registration: run.at, exclusions: run.at });
    const { runs } = (await organization.sandbox.get(`/v1/monitors/${body.id}/runs`)).body;
    expect(runs.at(-1)).toEqual({ ...run, cause: "first" });
    const verification = await organization.sandbox.get(`/v1/verifications/${ran.last_run.verification_id}`);
    expect(verification.body.results[0].status).toBe("pass");
    await organization.sandbox.delete(`/v1/monitors/${body.id}`);
  });

  test.concurrent("counts consecutive runs without an answer, and they report no change", async () => {
    const { body: entity } = await organization.sandbox.post("/v1/entities/lookup", {
      identifiers: { uei: "SANDBXERRR01" },
    });
    const { body } = await create("https://example.com/hook", { entity_id: entity.id });
    await eventually(
      async () => (await organization.sandbox.get(`/v1/monitors/${body.id}`)).body.consecutive_errors >= 2,
    );
    expect((await organization.sandbox.get(`/v1/monitors/${body.id}/events`)).body.events).toEqual([]);
    await organization.sandbox.delete(`/v1/monitors/${body.id}`);
  });

  test("can change its URL and frequency, and nothing else", async () => {
    const { body } = await create("https://example.com/hook");
    const changed = await organization.sandbox.patch(`/v1/monitors/${body.id}`, {
      webhook_url: "https://example.com/new",
      frequency: "weekly",
    });
    expect(changed.body).toMatchObject({ id: body.id, webhook_url: "https://example.com/new", frequency: "weekly" });
    for (const wrong of [{}, { entity_id: changing }, { webhook_url: "nowhere" }]) {
      expect((await organization.sandbox.patch(`/v1/monitors/${body.id}`, wrong)).status).toBe(400);
    }
    const without = await organization.sandbox.patch(`/v1/monitors/${body.id}`, { webhook_url: null });
    expect([without.status, "webhook_url" in without.body]).toEqual([200, false]);
    await organization.sandbox.delete(`/v1/monitors/${body.id}`);
    const canceled = await organization.sandbox.patch(`/v1/monitors/${body.id}`, { frequency: "weekly" });
    expect([canceled.status, canceled.body.error]).toEqual([409, "monitor_canceled"]);
  });
});

describe("a change", () => {
  test.concurrent("reaches the subscriber signed with both schemes, and is in the history", async () => {
    const subscriber = await subscribe();
    const { body: monitor } = await create(subscriber.url);
    const post = await subscriber.waitForPost();
    const body = JSON.parse(post.body);
    expect(body).toEqual({
      event: "monitor.change_detected",
      monitor_id: monitor.id,
      entity_id: changing,
      changes: expect.any(Array),
      verification_id: expect.stringMatching(/^ver_/),
      delivered_at: expect.stringMatching(/Z$/),
    });
    const status = body.changes.find(
      ({ field }: { field: string }) => field === "sam_registration.registration_status",
    );
    expect(status).toEqual({
      field: "sam_registration.registration_status",
      previous: "active",
      current: "expired",
      detected_at: expect.stringMatching(/Z$/),
    });
    expect(post.headers["content-type"]).toBe("application/json");
    expect(post.headers["x-delivery-attempt"]).toBe("1");
    expect(post.headers["idempotency-key"]).toBe(post.headers["webhook-id"]);

    const secret = organization.webhookSecrets.sandbox;
    const standard = Object.fromEntries(
      ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => [name, String(post.headers[name])]),
    );
    expect(new Webhook(secret).verify(post.body, standard)).toEqual(body);
    const signature = String(post.headers["x-service-signature"]);
    expect(new Stripe("sk_test_unused").webhooks.constructEvent(post.body, signature, secret)).toEqual(body);

    const { events } = (await organization.sandbox.get(`/v1/monitors/${monitor.id}/events`)).body;
    const event = events.find(({ id }: { id: string }) => id === post.headers["webhook-id"]);
    const { delivered_at: _deliveredAt, changes, ...shared } = body;
    expect(event).toEqual({
      ...shared,
      id: post.headers["webhook-id"],
      // An absent value is null in the webhook, and empty text here.
      changes: changes.map((change: { previous: string | null; current: string | null }) => ({
        ...change,
        previous: change.previous ?? "",
        current: change.current ?? "",
      })),
      detected_at: changes[0].detected_at,
    });
    for (const change of event.changes)
      expect([typeof change.previous, typeof change.current]).toEqual(["string", "string"]);
    const all = (await organization.sandbox.get("/v1/events")).body.events;
    expect(all.map(({ id }: { id: string }) => id)).toContain(event.id);
    await organization.sandbox.delete(`/v1/monitors/${monitor.id}`);
  });

  test.concurrent("that is not accepted is sent again with the same id and a new signature", async () => {
    const subscriber = await subscribe((received, response) => {
      response.writeHead(received.headers["x-delivery-attempt"] === "1" ? 500 : 200).end();
    });
    const { body: monitor } = await create(subscriber.url);
    const first = await subscriber.waitForPost();
    const id = first.headers["webhook-id"];
    const second = await subscriber.waitForPost(
      ({ headers }) => headers["webhook-id"] === id && headers["x-delivery-attempt"] === "2",
    );
    expect(second.at.getTime() - first.at.getTime()).toBeGreaterThanOrEqual(4_400);
    expect(second.headers["webhook-timestamp"]).not.toBe(first.headers["webhook-timestamp"]);
    const headers = Object.fromEntries(
      ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => [name, String(second.headers[name])]),
    );
    expect(() => new Webhook(organization.webhookSecrets.sandbox).verify(second.body, headers)).not.toThrow();
    await organization.sandbox.delete(`/v1/monitors/${monitor.id}`);
  });

  test.concurrent("is delivered separately for each of two monitors on one entity", async () => {
    const [one, two] = [await subscribe(), await subscribe()];
    const monitors = [(await create(one.url)).body, (await create(two.url)).body];
    for (const [index, subscriber] of [one, two].entries()) {
      const post = await subscriber.waitForPost();
      expect(JSON.parse(post.body).monitor_id).toBe(monitors[index]!.id);
    }
    for (const { id } of monitors) await organization.sandbox.delete(`/v1/monitors/${id}`);
  });
});

describe("a canceled monitor", () => {
  test.concurrent("answers repeated cancellations the same way, is in no list, and keeps its history", async () => {
    const subscriber = await subscribe();
    const { body: monitor } = await create(subscriber.url);
    await subscriber.waitForPost();
    const path = `/v1/monitors/${monitor.id}`;
    for (const answer of [await organization.sandbox.delete(path), await organization.sandbox.delete(path)]) {
      expect(answer.status).toBe(200);
      expect(answer.body).toMatchObject({ id: monitor.id, status: "canceled" });
      expect(answer.body).not.toHaveProperty("next_run_at");
    }
    const { events } = (await organization.sandbox.get(`${path}/events`)).body;
    expect(events.length).toBeGreaterThan(0);
    expect((await organization.sandbox.get(path)).body.status).toBe("canceled");
    const { monitors } = (await organization.sandbox.get("/v1/monitors?limit=100")).body;
    expect(monitors.map(({ id }: { id: string }) => id)).not.toContain(monitor.id);

    // A delivery of another monitor shows that enough time for runs has passed.
    const witness = await subscribe();
    const { body: other } = await create(witness.url);
    await witness.waitForPost(({ body }) => JSON.parse(body).monitor_id === other.id);
    expect((await organization.sandbox.get(`${path}/events`)).body.events).toEqual(events);
    await organization.sandbox.delete(`/v1/monitors/${other.id}`);
  });
});
