import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { eventually, untilEnd } from "@vvs/testing";
import { MongoClient } from "mongodb";
import type { Product } from "../../deploy/local/product.ts";
import { serverCacheDir } from "../../deploy/local/servers/index.ts";
import { type KafkaServer, startKafka } from "../../deploy/local/servers/kafka.ts";
import { type MongodbServer, startMongodb } from "../../deploy/local/servers/mongodb.ts";
import { type RedisServer, startRedis } from "../../deploy/local/servers/redis.ts";
import type { ServiceName } from "../../deploy/local/services.ts";
import type { Answer } from "../support/api.ts";
import { createOrganization, type TestOrganization } from "../support/organization.ts";
import { ownPlace } from "../support/own-place.ts";
import { fastClockVariables } from "../support/product.ts";
import { type Subscriber, startSubscriber } from "../support/subscriber.ts";
import { monitorChanging } from "../support/watching-organization.ts";

const MONITORS = 8;
const SESSION_TIMEOUT_MS = 6_000;
/** Longer than Kafka waits for a silent consumer. */
const KAFKA_OUTAGE_MS = 8_000;
/** Longer than a call waits for MongoDB. */
const MONGODB_OUTAGE_MS = 7_000;

// Servers that are stopped for a while must be this test's own.
const whereStartable = process.env.TEST_SERVERS === "started" ? describe : describe.skip;

whereStartable("services and servers that die or hang for a while", () => {
  const place = ownPlace();
  let mongodb: MongodbServer;
  let kafka: KafkaServer;
  let redis: RedisServer;
  let product: Product;
  let organization: TestOrganization;
  let subscriber: Subscriber;
  const monitors: string[] = [];
  const stopping = new AbortController();
  /** Outcomes of the calls that clients make all the time. */
  const outcomes: (Answer | "no connection")[] = [];
  let calling: Promise<unknown>;

  beforeAll(async () => {
    const own = (name: string) => ({
      dataDir: join(place.folder, name),
      cacheDir: serverCacheDir(process.env),
      log: () => undefined,
    });
    [mongodb, kafka, redis] = await Promise.all([
      startMongodb(own("mongodb")),
      startKafka({ ...own("kafka"), isBrief: true }),
      startRedis(own("redis")),
    ]);
    for (const server of [mongodb, kafka, redis]) untilEnd(server);
    product = await place.startProduct({
      servers: { mongodbUri: mongodb.uri, kafkaBrokers: kafka.brokers, redisUrl: redis.url },
      environment: { ...fastClockVariables(), KAFKA_SESSION_TIMEOUT_MS: String(SESSION_TIMEOUT_MS) },
    });
    organization = await createOrganization({ product });
    subscriber = await startSubscriber();
    const entity = await organization.sandbox.post("/v1/entities/lookup", { identifiers: { uei: "SANDBXCHNGE1" } });
    for (let count = 0; count < MONITORS; count++) {
      monitors.push((await monitorChanging(organization.sandbox, { webhook_url: subscriber.url })).id);
    }
    calling = Promise.all([
      keepCalling(() => organization.sandbox.get(`/v1/entities/${entity.body.id}`)),
      keepCalling(() =>
        organization.sandbox.post("/v1/verify", {
          identifiers: { uei: "SANDBXACTVE1" },
          checks: ["sam_registration"],
          mode: "realtime",
        }),
      ),
    ]);
  }, 180_000);

  afterAll(async () => {
    stopping.abort();
    await calling;
  }, 120_000);

  async function keepCalling(call: () => Promise<Answer>): Promise<void> {
    while (!stopping.signal.aborted) {
      outcomes.push(await call().catch(() => "no connection" as const));
      await pause(100);
    }
  }

  /** Returns all events of a monitor, newest first. */
  async function eventsOf(monitor: string) {
    const events: Answer["body"] = [];
    let page: Answer["body"];
    do {
      const cursor = page ? `&cursor=${page.next_cursor}` : "";
      page = (await organization.sandbox.get(`/v1/monitors/${monitor}/events?limit=100${cursor}`)).body;
      events.push(...page.events);
    } while (page.next_cursor !== null);
    return events;
  }

  /** Returns the statuses that calls got while `work` ran. */
  async function statusesDuring(work: () => Promise<unknown>): Promise<(number | "no connection")[]> {
    const before = outcomes.length;
    await work();
    return outcomes.slice(before).map((answer) => (answer === "no connection" ? answer : answer.status));
  }

  /** Waits until each monitor's subscriber has received a change that was detected from now on. */
  async function deliversAgain(): Promise<void> {
    const since = new Date().toISOString();
    const isDelivered = (monitor: string) =>
      subscriber.received.some(({ body }) => {
        const { monitor_id, changes } = JSON.parse(body);
        return monitor_id === monitor && changes[0].detected_at > since;
      });
    await eventually(() => monitors.every(isDelivered), { timeoutMs: 90_000 });
  }

  async function hangDuring(pid: number, work: () => Promise<unknown>): Promise<void> {
    process.kill(pid, "SIGSTOP");
    try {
      await work();
    } finally {
      process.kill(pid, "SIGCONT");
    }
  }

  async function kill(service: ServiceName): Promise<void> {
    const { pid } = product.services;
    const killed = pid(service);
    process.kill(killed, "SIGKILL");
    await eventually(() => pid(service) !== killed);
  }

  const answersAgain = () =>
    eventually(() => outcomes.at(-1) !== "no connection" && isOk(outcomes.at(-2), outcomes.at(-1)));
  const isOk = (...answers: (Answer | "no connection" | undefined)[]) =>
    answers.every((answer) => typeof answer === "object" && answer.status === 200);

  test("killed services come back, and meanwhile calls fail only with 503", async () => {
    await deliversAgain();
    for (const service of ["entity", "account", "verification"] as const) {
      const statuses = await statusesDuring(async () => {
        await kill(service);
        await answersAgain();
      });
      for (const status of statuses) expect([200, 503]).toContain(status);
    }
    for (const service of ["monitor", "change-detector", "webhook-dispatcher", "gateway"] as const) await kill(service);
    await answersAgain();
    await deliversAgain();
  }, 180_000);

  test("the API answers while Kafka hangs, and everything is delivered afterwards", async () => {
    const statuses = await statusesDuring(() => hangDuring(kafka.pid, () => pause(KAFKA_OUTAGE_MS)));
    expect(new Set(statuses)).toEqual(new Set([200]));
    await deliversAgain();
  }, 180_000);

  test("the API answers and enforces its limits while Redis hangs", async () => {
    const limited = await createOrganization({ product, limitPerMinute: 20 });
    let served = 0;
    const statuses = await statusesDuring(() =>
      hangDuring(redis.pid, async () => {
        for (let count = 0; count < 40; count++) {
          const { status } = await limited.sandbox.get("/v1/monitors");
          expect([200, 429]).toContain(status);
          if (status === 200) served++;
        }
      }),
    );
    expect(served).toBe(20);
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect((await fetch(`${product.baseUrl}/v1/health`)).status).toBe(200);
  }, 60_000);

  test("while MongoDB hangs calls get 503 with Retry-After, health fails within 10 s, and both recover with it", async () => {
    const health = async () => (await fetch(`${product.baseUrl}/v1/health`)).status;
    expect(await health()).toBe(200);
    await hangDuring(mongodb.pid, async () => {
      await eventually(async () => (await health()) === 503, { timeoutMs: 10_000 });
      await pause(MONGODB_OUTAGE_MS);
      expect(await health()).toBe(503);
    });
    await eventually(async () => (await health()) === 200);
    await answersAgain();
    await deliversAgain();
  }, 180_000);

  test("no run, event or delivery is lost, no event is duplicated, and no call fails except with 503", async () => {
    for (const answer of outcomes) {
      if (answer === "no connection" || answer.status === 200) continue;
      expect([answer.status, answer.headers.has("retry-after")]).toEqual([503, true]);
    }
    await Promise.all(monitors.map((id) => organization.sandbox.delete(`/v1/monitors/${id}`)));
    const client = new MongoClient(mongodb.uri);
    try {
      for (const monitor of monitors) {
        const runs = await client
          .db(`${place.prefix}monitor_sandbox`)
          .collection("runs")
          .find({ monitor_id: monitor })
          .toArray();
        const numbers = runs.map(({ run_seq }) => Number(run_seq)).sort((left, right) => left - right);
        expect(numbers).toEqual(numbers.map((_, index) => index + 1));

        const events = await eventsOf(monitor);
        const statuses = events
          .reverse()
          .map(({ changes }: { changes: { field: string }[] }) =>
            changes.find(({ field }) => field === "sam_registration.registration_status"),
          );
        // Each event starts from the status that the previous event reported.
        for (const [index, change] of statuses.entries()) {
          expect(change.previous).toBe(index === 0 ? "active" : statuses[index - 1].current);
        }
        const posts = () => subscriber.received.filter(({ body }) => JSON.parse(body).monitor_id === monitor);
        const ids = events.map(({ id }: { id: string }) => id);
        expect(new Set(ids).size).toBe(ids.length);
        await eventually(() => new Set(posts().map(({ headers }) => headers["webhook-id"])).size >= ids.length);
        expect([...new Set(posts().map(({ headers }) => headers["webhook-id"]))]).toEqual(ids);
      }
    } finally {
      await client.close();
    }
  }, 120_000);
});
