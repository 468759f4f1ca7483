import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { eventually } from "@vvs/testing";
import { Webhook } from "standardwebhooks";
import { type Received, type Subscriber, startSubscriber } from "../support/subscriber.ts";
import { startTestStack, type TestStack } from "./stack.ts";

/** Long enough for every other answer, also on a busy machine. */
const TIMEOUT_MS = 5_000;
let stack: TestStack;
let subscriber: Subscriber;
/** Target of the redirects; it must receive nothing. */
let trap: Subscriber;
/** Number of bytes written of the endless answer. */
let poured = 0;

/** What happens to the first attempt, by path; the next one is answered 200. */
const BEHAVIOURS: Record<string, (response: ServerResponse) => void> = {
  "/hangs": () => undefined,
  "/resets": (response) => response.socket!.resetAndDestroy(),
  "/hangs-up": (response) => response.socket!.end(),
  "/resets-in-the-body": (response) => {
    response.writeHead(200, { "content-length": 1_000 }).write("some", () => response.socket!.resetAndDestroy());
  },
  "/no-http": (response) => response.socket!.end("what?\r\n\r\n"),
  "/drips-its-head": (response) => dripRaw(response, "HTTP/1.1 200 OK\r\nx: "),
  "/drips-its-body": (response) => dripRaw(response, "HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n"),
  "/drips-hints": (response) => {
    const timer = setInterval(() => response.writeEarlyHints({ link: "</a>; rel=preload" }), 50);
    response.once("close", () => clearInterval(timer));
  },
  "/head-too-large": (response) => response.writeHead(200, { x: "x".repeat(100_000) }).end(),
  "/fails": (response) => response.writeHead(500).end("no"),
  "/is-unavailable": (response) => response.writeHead(503).end(),
  "/is-gone": (response) => response.writeHead(410).end(),
  "/moved": (response) => response.writeHead(301, { location: trap.url }).end(),
  "/see-other": (response) => response.writeHead(303, { location: trap.url }).end(),
  "/moved-for-now": (response) => response.writeHead(307, { location: trap.url }).end(),
  "/moved-for-good": (response) => response.writeHead(308, { location: trap.url }).end(),
};

function dripRaw(response: ServerResponse, head: string): void {
  const socket = response.socket!;
  socket.write(head);
  const timer = setInterval(() => socket.write("x"), 50);
  socket.once("close", () => clearInterval(timer));
}

function answer({ path, headers }: Received, response: ServerResponse): void {
  if (path === "/pours") pour(response);
  else if (path === "/always-fails") response.writeHead(500).end("x".repeat(100_000));
  else if (headers["x-delivery-attempt"] === "1" && BEHAVIOURS[path]) BEHAVIOURS[path](response);
  else response.end("ok");
}

function pour(response: ServerResponse): void {
  const chunk = Buffer.alloc(65_536, "x");
  const write = () => {
    while (!response.destroyed && response.write(chunk)) poured += chunk.length;
  };
  response.on("drain", write);
  write();
}

beforeAll(async () => {
  trap = await startSubscriber();
  subscriber = await startSubscriber(answer);
  stack = await startTestStack({ environment: { WEBHOOK_TIMEOUT_MS: String(TIMEOUT_MS) } });
}, 120_000);

afterAll(async () => {
  await stack?.discard();
  subscriber?.close();
  trap?.close();
}, 60_000);

const at = (path: string) => new URL(path, subscriber.url).href;
/** Returns whether the signature is valid for the body that was sent. */
function isSigned({ headers, body }: Received): boolean {
  const names = ["webhook-id", "webhook-timestamp", "webhook-signature"];
  const signature = Object.fromEntries(names.map((name) => [name, String(headers[name])]));
  return JSON.stringify(new Webhook(stack.secret).verify(body, signature)) === body;
}
const postsTo = (path: string) => subscriber.received.filter((received) => received.path === path);

describe("a subscriber that misbehaves gets the event in the next attempt", () => {
  const events = new Map<string, { eventId: string }>();
  beforeAll(async () => {
    for (const path of Object.keys(BEHAVIOURS)) events.set(path, await stack.tell(at(path)));
  });

  test.each([
    ["/hangs", { error: "timeout" }],
    ["/resets", { error: "connection" }],
    ["/hangs-up", { error: "connection" }],
    ["/resets-in-the-body", { error: "connection", status_code: 200 }],
    ["/no-http", { error: "connection" }],
    ["/drips-its-head", { error: "timeout" }],
    ["/drips-its-body", { error: "timeout", status_code: 200 }],
    ["/drips-hints", { error: "timeout" }],
    ["/head-too-large", { error: "connection" }],
    ["/fails", { error: "http_status", status_code: 500, answer_excerpt: "no" }],
    ["/is-unavailable", { error: "http_status", status_code: 503 }],
    ["/is-gone", { error: "http_status", status_code: 410 }],
    ["/moved", { error: "http_status", status_code: 301 }],
    ["/see-other", { error: "http_status", status_code: 303 }],
    ["/moved-for-now", { error: "http_status", status_code: 307 }],
    ["/moved-for-good", { error: "http_status", status_code: 308 }],
  ])("%s", async (path, first) => {
    const event = events.get(path)!;
    const delivery = await stack.deliveryOf(event, ({ status }) => status === "delivered");
    expect(delivery.attempts).toMatchObject([
      { number: 1, ...first },
      { number: 2, status_code: 200 },
    ]);
    expect(postsTo(path).map(({ headers }) => headers["webhook-id"])).toEqual([event.eventId, event.eventId]);
    expect(postsTo(path).map(({ headers }) => headers["x-delivery-attempt"])).toEqual(["1", "2"]);
    for (const post of postsTo(path)) expect(isSigned(post)).toBe(true);
  });

  test("and no redirect of any status is followed", () => {
    expect(trap.received).toEqual([]);
  });
});

test("an endless answer is read only as far as needed, and its status decides", async () => {
  const event = await stack.tell(at("/pours"));
  const { attempts } = await stack.deliveryOf(event, ({ status }) => status === "delivered");
  expect(attempts).toHaveLength(1);
  expect(attempts[0]!.answer_excerpt.length).toBeLessThanOrEqual(1_024);
  await eventually(() => {
    const before = poured;
    return new Promise<boolean>((resolve) => setTimeout(() => resolve(poured === before), 50));
  });
  expect(poured).toBeLessThan(32 * 1_048_576);
});

test("the first bytes of a long answer are kept for display, even if its status is a failure", async () => {
  const event = await stack.tell(at("/always-fails"));
  const { attempts } = await stack.deliveryOf(event, (delivery) => delivery.attempts.length > 0);
  expect(attempts[0]).toMatchObject({ error: "http_status", status_code: 500 });
  expect(attempts[0]!.answer_excerpt).toMatch(/^x{1,1024}$/);
});

test("a port that nothing listens on is a failed connection", async () => {
  const event = await stack.tell("http://127.0.0.1:1/hook");
  const { attempts } = await stack.deliveryOf(event, (delivery) => delivery.attempts.length > 0);
  expect(attempts[0]).toMatchObject({ error: "connection" });
});
