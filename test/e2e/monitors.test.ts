import { randomInt } from "node:crypto";
import type { ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "@jest/globals";
import { eventually } from "@vvs/testing";
import { Webhook } from "standardwebhooks";
import Stripe from "stripe";
import { whenAdmitted } from "../support/api.ts";
import type { Received } from "../support/subscriber.ts";
import { watchingOrganization } from "../support/watching-organization.ts";

/** Ends each attempt to a failing path, with an answer of 500. */
const failing: (() => void)[] = [];

function answer({ path, headers }: Received, response: ServerResponse): void {
  if (path.startsWith("/failing")) failing.push(() => response.writeHead(500).end());
  else response.writeHead(path === "/fails-once" && headers["x-delivery-attempt"] === "1" ? 500 : 200).end();
}

const own = await watchingOrganization(answer);
const { watch, monitorOf, eventsOf, postsTo, postTo } = own;
const cancel = (id: string) => whenAdmitted(() => own.organization.sandbox.delete(`/v1/monitors/${id}`));
const change = (id: string, body: object) => own.organization.sandbox.patch(`/v1/monitors/${id}`, body);

/** Returns the headers of Standard Webhooks. */
const standardOf = ({ headers }: Received) =>
  Object.fromEntries(
    ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => [name, String(headers[name])]),
  );

describe("a monitor", () => {
  test.concurrent("has every documented field and runs immediately", async () => {
    const body = await watch("/any", { frequency: undefined, checks: ["sam_registration", "sam_registration"] });
    expect(body).toEqual({
      id: expect.stringMatching(/^mon_[0-9a-z]{26}$/),
      entity_id: own.changing,
      checks: ["sam_registration"],
      frequency: "daily",
      webhook_url: new URL("/any", own.subscriber.url).href,
      status: "active",
      created_at: expect.stringMatching(/Z$/),
      next_run_at: expect.stringMatching(/Z$/),
      consecutive_errors: 0,
    });
    const ran = await eventually(async () => {
      const monitor = await monitorOf(body.id);
      return monitor.last_run ? monitor : undefined;
    });
    const { data_as_of: dates, ...run } = ran.last_run;
    expect(run).toEqual({
      at: expect.any(String),
      outcome: "pass",
      verification_id: expect.stringMatching(/^ver_/),
    });
    expect(dates).toEqual({ registration: run.at, exclusions: run.at });
    const { runs } = (await own.organization.sandbox.get(`/v1/monitors/${body.id}/runs`)).body;
    expect(runs.at(-1)).toEqual({ ...run, cause: "first" });
    const verification = await own.organization.sandbox.get(`/v1/verifications/${ran.last_run.verification_id}`);
    expect(verification.body.results[0].status).toBe("pass");
    await cancel(body.id);
  });
});

describe("a change", () => {
  test.concurrent("reaches the subscriber signed with both schemes, and is in the history", async () => {
    const monitor = await watch("/signed");
    const post = await postTo("/signed");
    const body = JSON.parse(post.body);
    expect(body).toEqual({
      event: "monitor.change_detected",
      monitor_id: monitor.id,
      entity_id: own.changing,
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

    const secret = own.organization.webhookSecrets.sandbox;
    expect(new Webhook(secret).verify(post.body, standardOf(post))).toEqual(body);
    const signature = String(post.headers["x-service-signature"]);
    expect(new Stripe("sk_test_unused").webhooks.constructEvent(post.body, signature, secret)).toEqual(body);

    const events = await eventsOf(monitor.id);
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
    const all = (await own.organization.sandbox.get("/v1/events")).body.events;
    expect(all.map(({ id }: { id: string }) => id)).toContain(event.id);
    await cancel(monitor.id);
  });

  test.concurrent("that is not accepted is sent again with the same id and a new signature", async () => {
    const monitor = await watch("/fails-once");
    const first = await postTo("/fails-once");
    const id = first.headers["webhook-id"];
    const second = await own.subscriber.waitForPost(
      ({ headers }) => headers["webhook-id"] === id && headers["x-delivery-attempt"] === "2",
    );
    expect(second.at.getTime() - first.at.getTime()).toBeGreaterThanOrEqual(4_400);
    expect(second.headers["webhook-timestamp"]).not.toBe(first.headers["webhook-timestamp"]);
    expect(() =>
      new Webhook(own.organization.webhookSecrets.sandbox).verify(second.body, standardOf(second)),
    ).not.toThrow();
    await cancel(monitor.id);
  });
});

describe("a canceled monitor", () => {
  test.concurrent("answers repeated cancellations the same way, is in no list, and keeps its history", async () => {
    const monitor = await watch("/canceled");
    await postTo("/canceled");
    const path = `/v1/monitors/${monitor.id}`;
    for (const answer of [await own.organization.sandbox.delete(path), await own.organization.sandbox.delete(path)]) {
      expect(answer.status).toBe(200);
      expect(answer.body).toMatchObject({ id: monitor.id, status: "canceled" });
      expect(answer.body).not.toHaveProperty("next_run_at");
    }
    const { events } = (await own.organization.sandbox.get(`${path}/events`)).body;
    expect(events.length).toBeGreaterThan(0);
    expect((await own.organization.sandbox.get(path)).body.status).toBe("canceled");
    const { monitors } = (await own.organization.sandbox.get("/v1/monitors?limit=100")).body;
    expect(monitors.map(({ id }: { id: string }) => id)).not.toContain(monitor.id);

    // A delivery of another monitor shows that enough time for runs has passed.
    const other = await watch("/other");
    await postTo("/other");
    expect((await own.organization.sandbox.get(`${path}/events`)).body.events).toEqual(events);
    await cancel(other.id);
  });
});

test.concurrent("a retry goes to the monitor's current URL, and no retry is made once the URL is removed", async () => {
  const [moved, removed] = [(await watch("/failing/moved")).id, (await watch("/failing/removed")).id];
  await eventually(() => failing.length === 2);
  expect((await change(removed, { webhook_url: null })).status).toBe(200);
  expect((await change(moved, { webhook_url: new URL("/moved-here", own.subscriber.url).href })).status).toBe(200);
  const [before] = postsTo("/failing/moved");
  const id = before!.headers["webhook-id"];
  // The first attempts fail only now, so that no retry of them can come before the changes.
  for (const fail of failing) fail();
  const retry = await eventually(() => postsTo("/moved-here").find(({ headers }) => headers["webhook-id"] === id));
  expect(retry.headers["x-delivery-attempt"]).toBe("2");
  // An event of the second monitor after the removal is in the history but is not sent.
  const { length: known } = await eventsOf(removed);
  const events = await eventually(async () => {
    const found = await eventsOf(removed);
    return found.length >= known + 2 && found;
  });
  // On a slow machine a second event came before the removal, and had its first attempt.
  const sent = postsTo("/failing/removed").map(({ headers }) => headers);
  expect(sent.filter((headers) => headers["x-delivery-attempt"] !== "1")).toEqual([]);
  expect(sent.map((headers) => headers["webhook-id"])).not.toContain(events[0].id);
});

test.concurrent("a new URL and frequency keep the baseline", async () => {
  // No second run before the change below.
  const { id } = await watch("/before", { frequency: "weekly" });
  await eventually(async () => (await monitorOf(id)).last_run);
  const webhook_url = new URL("/after", own.subscriber.url).href;
  await change(id, { webhook_url, frequency: "hourly" });
  const post = await postTo("/after");
  expect(JSON.parse(post.body).changes).toContainEqual(
    expect.objectContaining({ field: "sam_registration.registration_status", previous: "active", current: "expired" }),
  );
  expect(postsTo("/before")).toEqual([]);
});

test.concurrent("another TIN is in the event beside what followed, and an error in one check changes nothing", async () => {
  const { id } = await watch("/inputs", { checks: ["tin_match", "sam_registration"] });
  const runWith = async (lastDigit: number, status: string) => {
    const tin = `9${String(randomInt(1e7)).padStart(7, "0")}${lastDigit}`;
    const verified = await own.organization.sandbox.post("/v1/verify", {
      identifiers: { uei: "SANDBXCHNGE1", tin },
      legal_name: "Sandbox Changing Status Inc",
      checks: ["tin_match"],
      mode: "realtime",
    });
    expect(verified.body.results[0].status).toBe(status);
    await eventually(async () => {
      const { last_run: run } = await monitorOf(id);
      if (!run || run.at <= verified.body.created_at) return false;
      const { results } = (await own.organization.sandbox.get(`/v1/verifications/${run.verification_id}`)).body;
      return results.find(({ check_type }: { check_type: string }) => check_type === "tin_match").status === status;
    });
    return `****${tin.slice(-4)}`;
  };
  const failing = await runWith(2, "fail");
  await runWith(1, "error");
  const matching = await runWith(6, "pass");
  const changes = await eventually(async () => {
    const found = (await eventsOf(id)).flatMap(({ changes }: { changes: { field: string }[] }) => changes);
    return found.some(({ field }: { field: string }) => field.startsWith("tin_match")) && found;
  });
  expect(changes.map(({ field }: { field: string }) => field)).toContain("sam_registration.status");
  expect(changes.filter(({ field }: { field: string }) => field.startsWith("tin_match"))).toMatchObject([
    { field: "tin_match.status", previous: "fail", current: "pass" },
    { field: "tin_match.reason", previous: "not_issued", current: "" },
    { field: "tin_match.tin", previous: failing, current: matching },
  ]);
});

test.concurrent("a monitor canceled when its run is due sends only the events that are in its history at that moment", async () => {
  const witness = await watch("/witness");
  const canceledWhenDue = async (path: string) => {
    const { id, next_run_at } = await watch(path);
    await pause(Date.parse(next_run_at) - Date.now() + randomInt(-50, 700));
    const { body } = await cancel(id);
    expect(body.status).toBe("canceled");
    return { id, path, events: await eventsOf(id) };
  };
  const canceled: Awaited<ReturnType<typeof canceledWhenDue>>[] = [];
  // Ten at a time: creations of a larger burst wait for each other, up to their limit on a busy machine.
  for (let first = 0; first < 30; first += 10) {
    const ten = Array.from({ length: 10 }, (_, index) => canceledWhenDue(`/canceled/${first + index}`));
    canceled.push(...(await Promise.all(ten)));
  }
  const before = postsTo("/witness").length;
  await eventually(() => postsTo("/witness").length >= before + 2);
  for (const { id, path, events } of canceled) {
    expect(await eventsOf(id)).toEqual(events);
    const ids = new Set(events.map((event: { id: string }) => event.id));
    const sent = () => new Set(postsTo(path).map(({ headers }) => headers["webhook-id"]));
    await eventually(() => sent().size >= ids.size);
    expect(sent()).toEqual(ids);
  }
  await cancel(witness.id);
});

const put = (external_id: string | null) =>
  own.organization.sandbox.request("PUT", `/v1/entities/${own.changing}/external_id`, { body: { external_id } });

test("a monitor's external_id is in its events and webhooks; without one they have the entity's", async () => {
  await put("ENTITY-1");
  const { next_cursor } = (await own.organization.sandbox.get("/v1/events?after=now")).body;
  const [numbered, plain] = [await watch("/numbered", { external_id: "OWN-1" }), await watch("/plain")];
  for (const [id, path, expected] of [
    [numbered.id, "/numbered", "OWN-1"],
    [plain.id, "/plain", "ENTITY-1"],
  ] as const) {
    const post = await postTo(path);
    const body = JSON.parse(post.body);
    expect([body.monitor_id, body.external_id]).toEqual([id, expected]);
    expect((await eventsOf(id)).at(-1)).toMatchObject({ id: post.headers["webhook-id"], external_id: expected });
  }
  await put(null);
  await change(numbered.id, { external_id: null });
  const isWithout = (path: string) => postsTo(path).some(({ body }) => !("external_id" in JSON.parse(body)));
  await eventually(() => isWithout("/numbered") && isWithout("/plain"));
  // Events get their place in this list after they were found, independently of their webhooks.
  const read = await eventually(async () => {
    const { events } = (await own.organization.sandbox.get(`/v1/events?after=${next_cursor}&limit=100`)).body;
    const ofBoth = events.filter(({ monitor_id }: { monitor_id: string }) =>
      [numbered.id, plain.id].includes(monitor_id),
    );
    const ids = new Set(ofBoth.map(({ external_id }: { external_id?: string }) => external_id));
    return ids.size >= 3 && ids;
  });
  expect(read).toEqual(new Set(["OWN-1", "ENTITY-1", undefined]));
});
