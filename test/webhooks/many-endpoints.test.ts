import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { eventually } from "@vvs/testing";
import { webhookEvent } from "../support/delivery-stack.ts";
import { type Subscriber, startSubscriber } from "../support/subscriber.ts";
import { startTestStack, type TestStack } from "./stack.ts";

const ENDPOINTS = 1_000;
const HANGING = 100;
const ORGANIZATIONS = 50;
const EVENTS_EACH = 2;

let stack: TestStack;
let subscriber: Subscriber;
const held: ServerResponse[] = [];

beforeAll(async () => {
  subscriber = await startSubscriber(({ path }, response) => {
    if (path.startsWith("/hangs")) held.push(response);
    else response.end("ok");
  });
  // Longer than the test takes, so that hanging endpoints still hang when the others have received their events.
  stack = await startTestStack({ environment: { WEBHOOK_TIMEOUT_MS: "240000" } });
}, 120_000);

afterAll(async () => {
  await stack?.discard();
  subscriber?.close();
}, 60_000);

test("while 100 of 1,000 endpoints hang, all others receive their events", async () => {
  const organizations = Array.from({ length: ORGANIZATIONS }, () => newId("org"));
  // Each organization has some hanging endpoints, and their events come first.
  const events = Array.from({ length: ENDPOINTS * EVENTS_EACH }, (_, index) => {
    const endpoint = Math.floor(index / EVENTS_EACH);
    const path = endpoint < HANGING ? `/hangs/${endpoint}` : `/works/${endpoint}`;
    return webhookEvent({
      organizationId: organizations[endpoint % ORGANIZATIONS]!,
      monitorId: newId("mon"),
      url: new URL(path, subscriber.url).href,
    });
  });
  await stack.publish(events);
  const healthy = new Set(
    events.filter(({ webhookUrl }) => webhookUrl.includes("/works/")).map(({ eventId }) => eventId),
  );
  await eventually(
    () => {
      const received = new Set(subscriber.received.map(({ headers }) => String(headers["webhook-id"])));
      return [...healthy].every((id) => received.has(id));
    },
    { timeoutMs: 180_000, everyMs: 250 },
  );
  expect(held.length).toBeGreaterThan(0);
  expect(held.filter(({ destroyed }) => destroyed)).toEqual([]);
  const firstAttempts = subscriber.received.filter(({ headers }) => headers["x-delivery-attempt"] === "1");
  expect(firstAttempts).toHaveLength(subscriber.received.length);
}, 240_000);
