import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { ServiceError } from "@vvs/errors";
import { newId } from "@vvs/ids";
import type { WebhookRequested } from "@vvs/proto/events/v1/events";
import { endpointId } from "./endpoint.ts";
import { type PlayedSubscriber, playSubscriber } from "./testing/played-subscriber.ts";
import {
  changeEvent,
  eventually,
  type Replica,
  SECRET,
  startReplica,
  type TestStore,
  testStore,
} from "./testing/replica.ts";

let store: TestStore;
const subscribers: PlayedSubscriber[] = [];
const replicas: Replica[] = [];

beforeAll(async () => {
  store = await testStore();
});
beforeEach(async () => {
  await store.deliveries.deleteMany({});
  await store.endpoints.deleteMany({});
});
afterEach(async () => {
  await Promise.all(replicas.splice(0).map((replica) => replica.stop()));
  await Promise.all(subscribers.splice(0).map((subscriber) => subscriber.close()));
});
afterAll(() => store.close());

async function subscriber(answer?: Parameters<typeof playSubscriber>[0]): Promise<PlayedSubscriber> {
  const played = await playSubscriber(answer);
  subscribers.push(played);
  return played;
}

function replica(options?: Parameters<typeof startReplica>[1]): Replica {
  const started = startReplica(store.db, options);
  replicas.push(started);
  return started;
}

const idsOf = (events: readonly WebhookRequested[]) => events.map(({ eventId }) => eventId);
const delivered = (count: number) =>
  eventually(async () => (await store.deliveries.countDocuments({ status: "delivered" })) === count);
const ofOneMonitor = (url: string, count: number) => {
  const monitorId = newId("mon");
  return Array.from({ length: count }, (_, index) => changeEvent(url, { monitorId, runSeq: index + 1 }));
};

describe("an event", () => {
  test("is delivered once, also when it is requested again, at once and by two replicas", async () => {
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

  test("that a dead replica had in hand is delivered when its lease has ended, in its monitor's order", async () => {
    const { url, posts } = await subscriber();
    const events = ofOneMonitor(url("/hook"), 3);
    // The dead one: its attempts can't be signed, and what it took stays leased.
    const never = Promise.withResolvers<never>();
    never.promise.catch(() => undefined);
    const dead = replica({ askSecrets: () => never.promise });
    await dead.take(...events);
    await store.deliveries.updateMany({}, { $set: { next_attempt_at: new Date() } });
    replica();
    await delivered(3);
    expect(posts.map(({ eventId }) => eventId)).toEqual(idsOf(events));
    never.reject(new Error("dead"));
  });

  test("is retried after a failure, with the same id, and holds no later one of its monitor back", async () => {
    const { url, posts } = await subscriber((post, response) => {
      response.writeHead(post.eventId === first!.eventId ? 500 : 200).end("no");
    });
    const [first, second] = ofOneMonitor(url("/hook"), 2);
    await replica().take(first!, second!);
    await delivered(1);
    expect(idsOf([second!])).toContain(posts[1]!.eventId);
    const [waiting] = await store.deliveries.find({ event_id: first!.eventId }).toArray();
    const { next_attempt_at, due_at, attempts } = waiting!;
    expect(attempts).toMatchObject([{ number: 1, status_code: 500, error: "http_status", answer_excerpt: "no" }]);
    expect(next_attempt_at).toEqual(due_at);
    await store.deliveries.updateMany({ status: "pending" }, { $set: { next_attempt_at: new Date() } });
    await eventually(() => posts.length === 3);
    expect(posts[2]!.eventId).toBe(first!.eventId);
    expect(posts[2]!.headers).toMatchObject({ "x-delivery-attempt": "2", "idempotency-key": first!.eventId });
  });
});

test("first attempts of a monitor go one after the other in the order of detection, however many wait", async () => {
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

describe("endpoints that hang", () => {
  test("hold a bounded part of the slots, and delay no other one", async () => {
    const hung = new Set<string>();
    const { url, posts } = await subscriber((post, response) => {
      if (post.path.startsWith("/hang")) hung.add(post.eventId);
      else response.end();
    });
    const one = replica();
    const hanging = Array.from({ length: 600 }, (_, index) => changeEvent(url(`/hang/${index % 40}`)));
    await one.take(...hanging);
    await eventually(() => hung.size >= 40);
    const well = Array.from({ length: 200 }, (_, index) => changeEvent(url(`/well/${index % 20}`)));
    await one.take(...well);
    await delivered(200);
    // Of 600 that could have begun: an endpoint that has never answered holds one slot.
    expect(hung.size).toBe(40);
    expect(posts.filter(({ path }) => path.startsWith("/well"))).toHaveLength(200);
  });

  test("leave another organization its share", async () => {
    const { url, posts } = await subscriber((post, response) => {
      if (post.path === "/well") response.end();
    });
    const one = replica();
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

  test("gets single probes, whose pauses grow; what is held back burns no attempt and is due", async () => {
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

  test("gets what can't be held back any longer, though it fails", async () => {
    const { url, posts } = await refusing();
    const one = replica();
    await one.take(...many(url("/hook"), 8));
    await eventually(async () => (await circuit(url("/hook"))) === "open");
    const late = many(url("/hook"), 30);
    await one.take(...late);
    await store.deliveries.updateMany({ held: true, attempts: [] }, { $set: { next_attempt_at: new Date() } });
    await eventually(() => idsOf(late).every((id) => posts.some(({ eventId }) => eventId === id)));
  });

  test("is ramped up when it answers again, and gets everything", async () => {
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
    // A probe, and then twice as many each second.
    expect(firstSecond.length).toBeLessThanOrEqual(4);
    expect(after.length).toBeGreaterThanOrEqual(60);
  });

  test("is probed by one replica at a time", async () => {
    const { url, mostAtOnce } = await subscriber((post, response) => {
      if (post.path === "/refuse") response.writeHead(503).end();
    });
    const [one, other] = [replica({ timeoutMs: 1_500 }), replica({ timeoutMs: 1_500 })];
    // It hangs: each attempt takes its whole time, and two in a row open the circuit.
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

describe("our own faults consume no attempt", () => {
  test("while nothing can be signed, webhooks wait, and go out when it can", async () => {
    const { url, posts } = await subscriber();
    let away = true;
    const askSecrets = async () => {
      if (away) throw new ServiceError("service_unavailable");
      return [SECRET];
    };
    const one = replica({ askSecrets });
    for (let count = 0; count < 5; count++)
      await one.take(...Array.from({ length: 10 }, () => changeEvent(url("/hook"))));
    await eventually(() => one.lines.some(({ level }) => level === "error"));
    expect(posts).toEqual([]);
    expect(await store.deliveries.countDocuments({ attempts: { $ne: [] } })).toBe(0);
    away = false;
    await delivered(50);
    expect(one.lines.filter(({ level }) => level === "error")).toHaveLength(1);
    expect(await store.deliveries.countDocuments({ "attempts.1": { $exists: true } })).toBe(0);
  });
});

test("a test event is sent once, marked as one, also to an endpoint that fails", async () => {
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
});
