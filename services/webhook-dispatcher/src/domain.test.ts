import { beforeEach, describe, expect, test } from "@jest/globals";
import { ServiceError } from "@vvs/errors";
import { newId } from "@vvs/ids";
import type { WebhookRequested } from "@vvs/proto/events/v1/events";
import { eventually, hookedDb } from "@vvs/testing";
import { endpointId } from "./endpoints/endpoint.ts";
import type { Delivery } from "./model/delivery.ts";
import { deliveryTest } from "./testing/delivery-test.ts";
import { changeEvent, SECRET, urlChange } from "./testing/replica.ts";

const { store, subscriber, replica, delivered } = await deliveryTest();

/** A clock that stands still until it is advanced, so that no retry comes before the test wants it. */
function stillClock() {
  let at = Date.now();
  return {
    now: () => new Date(at),
    advance(seconds: number) {
      at += seconds * 1_000;
    },
  };
}
/** Later than the first retry of an event, in seconds. */
const FIRST_RETRY = 6;

const idsOf = (events: readonly WebhookRequested[]) => events.map(({ eventId }) => eventId);
const ofOneMonitor = (url: string, count: number) => {
  const monitorId = newId("mon");
  return Array.from({ length: count }, (_, index) => changeEvent(url, { monitorId, runSeq: index + 1 }));
};

describe("an event", () => {
  test("is delivered once, also when it is requested again, concurrently and by two replicas", async () => {
    const { url, posts } = await subscriber();
    const [one, other] = [replica(), replica()];
    const events = Array.from({ length: 20 }, () => changeEvent(url("/hook")));
    await Promise.all([one.take(...events), other.take(...events), one.take(...events)]);
    await delivered(20);
    expect(posts.map(({ eventId }) => eventId).sort()).toEqual(idsOf(events).sort());
    const [kept] = await store.deliveries.find({ event_id: events[0]!.eventId }).toArray();
    expect(kept).toMatchObject({
      attempts: [{ number: 1, status_code: 200, answer_excerpt: "ok" }],
      next_attempt_at: null,
    });
    expect(kept).not.toHaveProperty("lease");
    expect(kept).not.toHaveProperty("first_attempt_owed");
  });

  test("has the organization's own number of the vendor on every attempt; without one it has no such field", async () => {
    const { url, posts } = await subscriber((_post, response) => void response.writeHead(500).end());
    const numbered = changeEvent(url("/hook"), { externalId: "V-1" });
    const { now, advance } = stillClock();
    await replica({ now }).take(numbered, changeEvent(url("/hook")));
    await eventually(() => posts.length === 2);
    const waiting = { "attempts.0": { $exists: true }, lease: { $exists: false } };
    await eventually(async () => (await store.deliveries.countDocuments(waiting)) === 2);
    advance(FIRST_RETRY);
    await eventually(() => posts.length === 4);
    const hasNumber = posts.map(({ eventId, body }) => [eventId === numbered.eventId, JSON.parse(body).external_id]);
    expect(hasNumber.filter(([isNumbered]) => isNumbered)).toEqual([
      [true, "V-1"],
      [true, "V-1"],
    ]);
    expect(posts.filter(({ body }) => "external_id" in JSON.parse(body))).toHaveLength(2);
  });

  test("is retried at the URL that its monitor has then, with the same id", async () => {
    const old = await subscriber((_post, response) => void response.writeHead(500).end());
    const { url, posts } = await subscriber();
    const { now, advance } = stillClock();
    const { take } = replica({ now });
    const event = changeEvent(old.url("/hook"));
    await take(event);
    await eventually(async () => (await store.deliveries.countDocuments({ "attempts.0": { $exists: true } })) === 1);
    await take(urlChange(event, url("/new")));
    advance(FIRST_RETRY);
    await delivered(1);
    expect([old.posts.length, posts.map(({ eventId }) => eventId)]).toEqual([1, [event.eventId]]);
  });

  test("of a monitor whose URL was removed is not retried, and those after it are delivered once there is one again", async () => {
    const old = await subscriber((_post, response) => void response.writeHead(500).end());
    const { url, posts } = await subscriber();
    const { take } = replica({ now: stillClock().now });
    const [first, second] = ofOneMonitor(old.url("/hook"), 2);
    await take(first!);
    await eventually(async () => (await store.deliveries.countDocuments({ "attempts.0": { $exists: true } })) === 1);
    await take(urlChange(first!, ""));
    const failed = await store.deliveries.findOne({ event_id: first!.eventId });
    expect(failed).toMatchObject({ status: "failed", failure: "no_webhook_url" });
    await take(urlChange(first!, url("/new"), 2n), { ...second!, webhookUrl: url("/new"), urlVersion: 2n });
    await delivered(1);
    expect([old.posts.length, posts.map(({ eventId }) => eventId)]).toEqual([1, [second!.eventId]]);
  });

  test("that arrives together with a new URL of its monitor goes only there, in its monitor's order", async () => {
    const old = await subscriber();
    const { url, posts } = await subscriber();
    const [first, second, third] = ofOneMonitor(old.url("/hook"), 3);
    const moved = { ...third!, webhookUrl: url("/new"), urlVersion: 1n };
    await replica().take(first!, second!, urlChange(first!, url("/new")), moved);
    await delivered(3);
    expect([old.posts.length, posts.map(({ eventId }) => eventId)]).toEqual([0, idsOf([first!, second!, third!])]);
  });

  test("that arrives together with the removal of its monitor's URL is not sent", async () => {
    const old = await subscriber();
    const event = changeEvent(old.url("/hook"));
    await replica().take(event, urlChange(event, ""));
    await eventually(async () => (await store.deliveries.countDocuments({ status: { $ne: "pending" } })) === 1);
    const [ended] = await store.deliveries.find().toArray();
    expect(ended).toMatchObject({ status: "failed", failure: "no_webhook_url", attempts: [] });
    expect(old.posts).toEqual([]);
  });

  test("that a dead replica had leased is delivered when the lease has ended, in its monitor's order", async () => {
    const { url, posts } = await subscriber();
    const events = ofOneMonitor(url("/hook"), 3);
    // The dead replica: its attempts can't be signed, its events stay leased, and it claims no others.
    const never = Promise.withResolvers<never>();
    never.promise.catch(() => undefined);
    const dead = replica({ askSecrets: () => never.promise, stopping: AbortSignal.abort() });
    await dead.take(...events);
    await store.deliveries.updateMany({}, { $set: { next_attempt_at: new Date() } });
    replica();
    await delivered(3);
    expect(posts.map(({ eventId }) => eventId)).toEqual(idsOf(events));
    never.reject(new Error("dead"));
  });

  test("is retried after a failure, with the same id, and blocks no later event of its monitor", async () => {
    const { url, posts } = await subscriber((post, response) => {
      response.writeHead(post.eventId === first!.eventId ? 500 : 200).end("no");
    });
    const [first, second] = ofOneMonitor(url("/hook"), 2);
    const { now, advance } = stillClock();
    await replica({ now }).take(first!, second!);
    await delivered(1);
    expect(idsOf([second!])).toContain(posts[1]!.eventId);
    const recorded = { event_id: first!.eventId, "attempts.0": { $exists: true } };
    const { next_attempt_at, due_at, attempts } = await eventually(() => store.deliveries.findOne(recorded));
    expect(attempts).toMatchObject([{ number: 1, status_code: 500, error: "http_status", answer_excerpt: "no" }]);
    expect(next_attempt_at).toEqual(due_at);
    advance(FIRST_RETRY);
    await eventually(() => posts.length === 3);
    expect(posts[2]!.eventId).toBe(first!.eventId);
    expect(posts[2]!.headers).toMatchObject({ "x-delivery-attempt": "2", "idempotency-key": first!.eventId });
  });
});

test("a delivery that a replica with a slow clock made due is sent too", async () => {
  const { url, posts } = await subscriber();
  const clock = stillClock();
  const other = replica({ now: clock.now });
  await other.take(changeEvent(url("/hook")));
  await delivered(1);
  const [{ _id: first, ...rest }] = (await store.deliveries.find().toArray()) as [Delivery];
  const aMinuteAgo = new Date(clock.now().getTime() - 60_000);
  const due = { status: "pending" as const, attempts: [], next_attempt_at: aMinuteAgo, due_at: aMinuteAgo };
  await store.deliveries.insertOne({ ...rest, ...due, _id: `${first}2`, event_id: "evt_late" });
  clock.advance(5);
  await delivered(2);
  expect(posts.map(({ eventId }) => eventId)).toContain("evt_late");
});

test("first attempts of a monitor are made one after the other in the order of detection, however many wait", async () => {
  const { url, posts, mostAtOnce } = await subscriber();
  const one = replica();
  const events = ofOneMonitor(url("/hook"), 130);
  for (let at = 0; at < events.length; at += 40) await one.take(...events.slice(at, at + 40));
  await delivered(130);
  expect(posts.map(({ eventId }) => eventId)).toEqual(idsOf(events));
  expect(mostAtOnce("/hook")).toBe(1);
});

test("the order of a monitor is kept when another replica goes on with it", async () => {
  const { url, posts, mostAtOnce } = await subscriber((_post, response) => void setTimeout(() => response.end(), 20));
  const [one, other] = [replica(), replica()];
  const events = ofOneMonitor(url("/hook"), 30);
  for (let at = 0; at < 30; at += 5) {
    const owner = [one, other][(at / 5) % 2]!;
    owner.rebalanced();
    await owner.take(...events.slice(at, at + 5));
  }
  await delivered(30);
  expect(posts.map(({ eventId }) => eventId)).toEqual(idsOf(events));
  expect(mostAtOnce("/hook")).toBe(1);
});

describe("a partition that another replica takes over", () => {
  /** Returns a database on which inserts wait for `go`. */
  function insertsWaiting(go: Promise<void>) {
    const asked = Promise.withResolvers<void>();
    const db = hookedDb(store.db, "deliveries", "insertMany", async () => {
      asked.resolve();
      await go;
    });
    return { db, asked: asked.promise };
  }

  test("has the first attempts of a monitor made one after the other, though both replicas accept the first event", async () => {
    const answers: (() => void)[] = [];
    const { url, posts, mostAtOnce } = await subscriber((_post, response) => {
      answers.push(() => void response.end("ok"));
    });
    const [first, second] = ofOneMonitor(url("/hook"), 2);
    const go = Promise.withResolvers<void>();
    const { db, asked } = insertsWaiting(go.promise);
    const next = replica({}, db);
    const taken = next.take(first!, second!);
    await asked;
    await replica().take(first!);
    await eventually(() => answers.length === 1);
    go.resolve();
    await taken;
    await eventually(async () => {
      const waiting = await store.deliveries.findOne({ event_id: second!.eventId });
      return answers.length > 1 || waiting?.next_attempt_at === null;
    });
    expect(posts.map(({ eventId }) => eventId)).toEqual([first!.eventId]);
    answers[0]!();
    await eventually(() => answers.length === 2);
    answers[1]!();
    await delivered(2);
    expect(posts.map(({ eventId }) => eventId)).toEqual([first!.eventId, second!.eventId]);
    expect(mostAtOnce("/hook")).toBe(1);
  });
});

test("a replica that stops leaves no lease behind: another one goes on with the events of a monitor", async () => {
  const first = Promise.withResolvers<void>();
  const { url, posts } = await subscriber(async (_post, response) => {
    await first.promise;
    response.end();
  });
  const stopping = new AbortController();
  // Its leases outlast the test.
  const one = replica({ timeoutMs: 120_000, stopping: stopping.signal });
  const events = ofOneMonitor(url("/hook"), 3);
  await one.take(...events);
  await eventually(() => posts.length === 1);
  stopping.abort();
  const ended = one.ended();
  await one.take(changeEvent(url("/hook")));
  const released = { attempts: [], lease: { $exists: false }, held: { $exists: false } };
  await eventually(async () => (await store.deliveries.countDocuments(released)) === 1);
  first.resolve();
  await ended;
  expect(await store.deliveries.countDocuments({ lease: { $exists: true } })).toBe(0);
  replica();
  await delivered(4);
  expect(posts.filter(({ eventId }) => idsOf(events).includes(eventId)).map(({ eventId }) => eventId)).toEqual(
    idsOf(events),
  );
});

test("an event that arrives twice in one batch is sent once, and without waiting for a lease", async () => {
  const { url, posts } = await subscriber();
  const [first, second] = ofOneMonitor(url("/hook"), 2);
  // Its leases outlast the test.
  await replica({ timeoutMs: 120_000 }).take(first!, first!, second!, first!);
  await delivered(2);
  expect(posts.map(({ eventId }) => eventId)).toEqual([first!.eventId, second!.eventId]);
});

describe("endpoints that hang", () => {
  // An attempt that ended during the test would make room for another one.
  const outlasts = { timeoutMs: 120_000 };

  test("use a limited part of the slots, and delay no other endpoint", async () => {
    const hung = new Set<string>();
    const { url, posts } = await subscriber((post, response) => {
      if (post.path.startsWith("/hang")) hung.add(post.eventId);
      else response.end();
    });
    const one = replica(outlasts);
    const hanging = Array.from({ length: 600 }, (_, index) => changeEvent(url(`/hang/${index % 40}`)));
    await one.take(...hanging);
    await eventually(() => hung.size >= 40);
    const well = Array.from({ length: 200 }, (_, index) => changeEvent(url(`/well/${index % 20}`)));
    await one.take(...well);
    await delivered(200);
    // Of 600 that could have begun: an endpoint that has never answered uses one slot.
    expect(hung.size).toBe(40);
    expect(posts.filter(({ path }) => path.startsWith("/well"))).toHaveLength(200);
  });

  test("leave another organization its share", async () => {
    const { url, posts } = await subscriber((post, response) => {
      if (post.path === "/well") response.end();
    });
    const one = replica(outlasts);
    await one.take(...Array.from({ length: 300 }, (_, index) => changeEvent(url(`/hang/${index % 50}`))));
    await eventually(() => posts.length >= 32);
    await one.take(changeEvent(url("/well"), { organizationId: "org_2" }));
    await delivered(1);
  });
});

describe("an endpoint that fails", () => {
  const refusing = () =>
    subscriber((_post, response) => {
      response.writeHead(answers.status).end();
    });
  let answers: { status: number };
  beforeEach(() => {
    answers = { status: 503 };
  });
  const many = (url: string, count: number) => Array.from({ length: count }, () => changeEvent(url));
  const circuit = async (url: string) =>
    (await store.endpoints.findOne({ _id: endpointId("org_1", url) }))?.circuit.state;

  test("gets single probes; held deliveries use up no attempt and stay due", async () => {
    const { url, posts, mostAtOnce } = await refusing();
    const one = replica();
    await one.take(...many(url("/hook"), 8));
    await eventually(async () => (await circuit(url("/hook"))) === "open");
    const before = posts.length;
    await one.take(...many(url("/hook"), 100));
    await eventually(() => posts.length >= before + 2);
    expect(posts.length).toBeLessThan(before + 10);
    const held = await store.deliveries.find({ held: true, attempts: [] }).toArray();
    expect(held.length).toBeGreaterThan(80);
    for (const { next_attempt_at, due_at } of held) {
      const heldMs = next_attempt_at!.getTime() - due_at.getTime();
      expect(heldMs).toBeLessThanOrEqual(5 * 60_000);
    }
    expect(mostAtOnce("/hook")).toBeLessThanOrEqual(4);
  });

  test("gets deliveries that may no longer be held, though it fails", async () => {
    const { url, posts } = await refusing();
    const one = replica();
    await one.take(...many(url("/hook"), 8));
    await eventually(async () => (await circuit(url("/hook"))) === "open");
    const late = many(url("/hook"), 30);
    await one.take(...late);
    await store.deliveries.updateMany({ held: true, attempts: [] }, { $set: { next_attempt_at: new Date() } });
    await eventually(() => idsOf(late).every((id) => posts.some(({ eventId }) => eventId === id)));
  });

  test("gets a growing rate when it answers again, and then everything", async () => {
    const { url, posts } = await refusing();
    const one = replica();
    await one.take(...many(url("/hook"), 8));
    await eventually(async () => (await circuit(url("/hook"))) === "open");
    await one.take(...many(url("/hook"), 60));
    const before = posts.length;
    answers.status = 200;
    await eventually(async () => (await store.deliveries.countDocuments({ attempts: [] })) === 0);
    const after = posts.slice(before);
    const firstSecond = after.filter(({ at }) => at - after[0]!.at < 1_000);
    // A probe, then a doubled number each second.
    expect(firstSecond.length).toBeLessThanOrEqual(4);
    expect(after.length).toBeGreaterThanOrEqual(60);
  });

  test("is probed by one replica at a time", async () => {
    const { url, mostAtOnce } = await subscriber((post, response) => {
      if (post.path === "/refuse") response.writeHead(503).end();
    });
    const [one, other] = [replica({ timeoutMs: 1_500 }), replica({ timeoutMs: 1_500 })];
    // It hangs: each attempt times out, and two in a row open the circuit.
    await one.take(...many(url("/hang"), 4));
    await eventually(async () => (await circuit(url("/hang"))) === "open");
    await one.take(...many(url("/hang"), 10));
    await other.take(...many(url("/hang"), 10));
    const probes = async () => {
      const endpoint = await store.endpoints.findOne({ _id: endpointId("org_1", url("/hang")) });
      return endpoint!.circuit.state === "open" ? endpoint!.circuit.failed_probes : 0;
    };
    const most = mostAtOnce("/hang");
    await eventually(async () => (await probes()) >= 3);
    expect(mostAtOnce("/hang")).toBe(most);
  });
});

describe("our own faults use up no attempt", () => {
  test("while secrets are unavailable, webhooks wait, and are sent afterwards", async () => {
    const { url, posts } = await subscriber();
    let unavailable = true;
    const askSecrets = async () => {
      if (unavailable) throw new ServiceError("service_unavailable");
      return { secrets: [SECRET], privateHosts: [] };
    };
    const one = replica({ askSecrets });
    for (let count = 0; count < 5; count++)
      await one.take(...Array.from({ length: 10 }, () => changeEvent(url("/hook"))));
    await eventually(() => one.lines.some(({ level }) => level === "error"));
    expect(posts).toEqual([]);
    expect(await store.deliveries.countDocuments({ attempts: { $ne: [] } })).toBe(0);
    unavailable = false;
    await delivered(50);
    expect(one.lines.filter(({ level }) => level === "error")).toHaveLength(1);
    expect(await store.deliveries.countDocuments({ "attempts.1": { $exists: true } })).toBe(0);
  });

  test("an organization whose secrets can't be read delays no other; its webhooks are sent once they can", async () => {
    const { url } = await subscriber();
    let unreadable = true;
    const askSecrets = async (organizationId: string) => {
      if (unreadable && organizationId === "org_1") throw new ServiceError("internal_error");
      return { secrets: [SECRET], privateHosts: [] };
    };
    const one = replica({ askSecrets });
    await one.take(changeEvent(url("/hook")));
    await eventually(() => one.lines.some(({ level }) => level === "error"));
    await one.take(changeEvent(url("/hook"), { organizationId: "org_2" }));
    await delivered(1);
    expect(await store.deliveries.distinct("organization_id", { status: "delivered" })).toEqual(["org_2"]);
    unreadable = false;
    await delivered(2);
    expect(one.lines.filter(({ level }) => level === "error")).toHaveLength(1);
    expect(await store.deliveries.countDocuments({ "attempts.1": { $exists: true } })).toBe(0);
  });
});

test("a test event is sent once, marked as a test, also to an endpoint that fails", async () => {
  const { url, posts } = await subscriber((_post, response) => {
    response.writeHead(500).end();
  });
  const one = replica();
  const event = changeEvent(url("/hook"));
  await one.take(event);
  await eventually(async () => (await store.deliveries.countDocuments({ "attempts.0": { $exists: true } })) === 1);
  const [made] = await store.deliveries.find().toArray();
  const { first_attempt_owed: _owed, lease: _lease, ...rest } = made!;
  const now = new Date();
  const copy = { ...rest, _id: newId("dlv"), event_id: newId("evt"), attempts: [], next_attempt_at: now, due_at: now };
  await store.deliveries.insertOne({ ...copy, status: "pending", test: true });
  await eventually(async () => (await store.deliveries.countDocuments({ test: true, status: "failed" })) === 1);
  const tests = posts.filter(({ headers }) => headers["x-delivery-test"] === "true");
  expect(tests.map(({ eventId }) => eventId)).toEqual([copy.event_id]);
  const says = posts.map(({ body }) => JSON.parse(body).test);
  expect(says.filter(Boolean)).toEqual([true]);
});
