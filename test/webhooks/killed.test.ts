import type { ServerResponse } from "node:http";
import { expect, test } from "@jest/globals";
import { newId } from "@vvs/ids";
import { eventually } from "@vvs/testing";
import { webhookEvent } from "../support/delivery-stack.ts";
import { type Received, startSubscriber } from "../support/subscriber.ts";
import { startTestStack } from "./stack.ts";

const MONITORS = 100;
const PER_MONITOR = 4;
const ENDPOINTS = 20;
const KILL_AFTER = 100;

/** Responses that stay open until the dispatcher is killed. */
const held: ServerResponse[] = [];
let holds = false;

function answer({ path }: Received, response: ServerResponse): void {
  if (holds && path === "/held") held.push(response);
  else response.end("ok");
}

const subscriber = await startSubscriber(answer);
// A short timeout keeps leases short: they last a little longer than an attempt may take.
const stack = await startTestStack({ environment: { WEBHOOK_TIMEOUT_MS: "2000", KAFKA_SESSION_TIMEOUT_MS: "6000" } });

test("after a kill in the middle of its work every event arrives, in its monitor's order, under its own id", async () => {
  const monitors = Array.from({ length: MONITORS }, () => ({ id: newId("mon"), organizationId: newId("org") }));
  const events = Array.from({ length: MONITORS * PER_MONITOR }, (_, index) => {
    const number = index % MONITORS;
    const { id, organizationId } = monitors[number]!;
    const url = new URL(`/endpoint/${number % ENDPOINTS}`, subscriber.url).href;
    return webhookEvent({ organizationId, monitorId: id, runSeq: 1 + Math.floor(index / MONITORS), url });
  });
  await stack.publish(events);
  await eventually(() => subscriber.received.length >= KILL_AFTER, { everyMs: 2 });
  await stack.kill();
  await stack.start();
  const posts = () =>
    subscriber.received.map(({ headers, body }) => ({ ...JSON.parse(body), id: String(headers["webhook-id"]) }));
  await eventually(() => new Set(posts().map(({ id }) => id)).size >= events.length, {
    timeoutMs: 150_000,
    everyMs: 250,
  });

  const ids = new Map(events.map(({ verificationId, eventId }) => [verificationId, eventId]));
  expect(posts().filter(({ verification_id, id }) => ids.get(verification_id) !== id)).toEqual([]);
  const firstOf = new Map<string, number>();
  for (const [index, { id }] of posts().entries()) if (!firstOf.has(id)) firstOf.set(id, index);
  for (const { id } of monitors) {
    const order = events.filter(({ run }) => run!.monitorId === id).map(({ eventId }) => firstOf.get(eventId)!);
    expect(order).toEqual(order.toSorted((a, b) => a - b));
  }
  await eventually(async () => (await stack.pending()) === 0);
  expect(await stack.deliveries({ status: "delivered" })).toHaveLength(events.length);
}, 240_000);

test("an event that was delivered but not recorded before a kill is sent again under the same id", async () => {
  holds = true;
  const event = await stack.tell(new URL("/held", subscriber.url).href);
  await eventually(() => held.length === 1);
  await stack.kill();
  holds = false;
  await stack.start();
  const delivery = await stack.deliveryOf(event, ({ status }) => status === "delivered");
  const posts = subscriber.received.filter(({ path }) => path === "/held");
  expect(posts.map(({ headers }) => headers["webhook-id"])).toEqual([event.eventId, event.eventId]);
  // The attempt before the kill was not recorded, so only the second one is shown.
  expect(delivery.attempts).toMatchObject([{ number: 1, status_code: 200 }]);
}, 120_000);
