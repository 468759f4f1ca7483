import { once } from "node:events";
import { request } from "node:http";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { ServiceError } from "@vvs/errors";
import { startTestGateway, until } from "./testing/gateway.ts";
import { event, renderedEvent } from "./testing/samples.ts";

const stopping = new AbortController();
const gateway = await startTestGateway({ stopping: stopping.signal });
beforeEach(() => {
  gateway.monitor.on("listEvents", () => ({ events: [event] }));
  gateway.monitor.on("listEventsAfter", () => ({ events: [event], position: 7n }));
});
const get = (query: string, key = gateway.key) => gateway.send("GET", `/v1/events${query}`, { key });
const lastRequest = () => gateway.monitor.calls.at(-1)!.request;

describe("events read forward", () => {
  test("begin at the oldest stored event and continue at the cursor, which is always present", async () => {
    const first = await get("?after=start&limit=2");
    expect([first.status, first.body]).toEqual([
      200,
      { events: [renderedEvent], next_cursor: expect.stringMatching(/^[\w-]+$/) },
    ]);
    expect(lastRequest()).toMatchObject({ limit: 2, waitSeconds: 0 });
    expect(lastRequest().after).toBeUndefined();
    gateway.monitor.on("listEventsAfter", () => ({ events: [], position: 7n }));
    const next = await get(`?after=${first.body.next_cursor}&wait=20`);
    expect(next.body).toEqual({ events: [], next_cursor: first.body.next_cursor });
    expect(lastRequest()).toMatchObject({ after: 7n, limit: 25, waitSeconds: 20 });
  });

  test("begin with `now` after the newest event, and skip none that comes while the call waits", async () => {
    gateway.monitor.on("getNewestPosition", () => ({ position: 7n }));
    gateway.monitor.on("listEventsAfter", () => ({ events: [], position: 7n }));
    const first = await get("?after=now");
    expect([first.status, first.body]).toEqual([200, { events: [], next_cursor: expect.any(String) }]);
    expect(lastRequest()).toMatchObject({ after: 7n, waitSeconds: 0 });
    gateway.monitor.on("getNewestPosition", () => ({ position: 8n }));
    await get(`?after=${first.body.next_cursor}`);
    expect(lastRequest()).toMatchObject({ after: 7n });
    await get("?after=now&wait=20");
    expect(lastRequest()).toMatchObject({ after: 8n, waitSeconds: 20 });
  });

  test.each([
    ["wait without after", "?wait=1", "wait"],
    ["a wait over 20 s", "?after=start&wait=21", "wait"],
    ["a wait that is not a number", "?after=start&wait=soon", "wait"],
    ["an after that is not a cursor", "?after=7", "after"],
    ["an empty after", "?after=", "after"],
    ["another word", "?after=end", "after"],
    ["a wrong limit", "?after=start&limit=0", "limit"],
  ])("are refused with %s", async (_name, query, path) => {
    const { status, body } = await get(query);
    const paths = new Set(body.details.map((each: { path: string }) => each.path));
    expect([status, [...paths]]).toEqual([400, [path]]);
  });

  test("refuse cursors of the list newest first and of other organizations, and their cursors are refused there", async () => {
    const { createdAt, id } = { createdAt: event.detectedAt, id: event.id };
    gateway.monitor.on("listEvents", () => ({ events: [event], next: { createdAt, id } }));
    const backward = (await get("")).body.next_cursor;
    const forward = (await get("?after=start")).body.next_cursor;
    expect((await get(`?after=${backward}`)).body.details[0].path).toBe("after");
    expect((await get(`?cursor=${forward}`)).body.details[0].path).toBe("cursor");
    expect((await get(`?after=${forward}&cursor=${backward}`)).body.details[0].path).toBe("after");
    expect((await get(`?after=${forward}`, gateway.account.createKey().value)).status).toBe(400);
  });

  test("are refused with cursor_expired where what follows the cursor is no longer kept", async () => {
    gateway.monitor.on("listEventsAfter", () => {
      throw new ServiceError("cursor_expired");
    });
    const { status, body } = await get("?after=start");
    expect([status, body.error]).toEqual([400, "cursor_expired"]);
    expect(body.message).toMatch("after=start");
  });

  test("are refused with Retry-After when too many calls are waiting", async () => {
    gateway.monitor.on("listEventsAfter", () => {
      throw new ServiceError("rate_limited", { message: "10 calls wait already.", retryAfterSeconds: 5 });
    });
    const { status, headers, body } = await get("?after=start&wait=5");
    expect([status, body.error, headers.get("retry-after")]).toEqual([429, "rate_limited", "5"]);
  });

  test("stop waiting when the client disconnects", async () => {
    const hungUp = Promise.withResolvers<void>();
    gateway.monitor.on("listEventsAfter", (_request: unknown, { signal }: { signal: AbortSignal }) => {
      signal.addEventListener("abort", () => hungUp.resolve());
      return hungUp.promise.then(() => ({ events: [], position: 0n }));
    });
    const calls = gateway.monitor.calls.length;
    const headers = { Authorization: `Bearer ${gateway.key}` };
    const call = request(`${gateway.baseUrl}/v1/events?after=start&wait=20`, { headers }).end();
    call.on("error", () => undefined);
    await until(() => gateway.monitor.calls.length > calls);
    call.destroy();
    await hungUp.promise;
  });

  test("are answered when the gateway stops, with the events so far and the cursor to continue at", async () => {
    let newest = 7n;
    gateway.monitor.on("getNewestPosition", () => ({ position: newest++ }));
    gateway.monitor.on("listEventsAfter", (call: { waitSeconds: number }, { signal }: { signal: AbortSignal }) =>
      call.waitSeconds > 0 ? once(signal, "abort") : { events: [], position: 9n },
    );
    const reads = () => gateway.monitor.calls.filter(({ method }) => method === "listEventsAfter");
    const earlier = reads().length;
    const answering = [get("?after=start&wait=20"), get("?after=now&wait=20")];
    await until(() => reads().length === earlier + 2);
    stopping.abort();
    for (const { status, body } of await Promise.all(answering)) {
      expect([status, body]).toEqual([200, { events: [], next_cursor: expect.any(String) }]);
    }
    const last = reads().slice(earlier + 2);
    expect(last.map(({ request }) => request.after).toSorted()).toEqual([7n, undefined]);
  });
});
