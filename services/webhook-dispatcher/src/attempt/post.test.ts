import { createServer, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "@jest/globals";
import { createGuardedAgent, createSystemLookup } from "@vvs/egress";
import { createPoster } from "./post.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (let close = closers.pop(); close; close = closers.pop()) await close();
});

/** Starts a subscriber; returns its URL. */
async function subscriber(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

/** Does something every 20 ms until the connection closes. */
function repeat(response: ServerResponse, act: () => unknown): void {
  const timer = setInterval(act, 20);
  response.once("close", () => clearInterval(timer));
}

function send(url: string, options: { allowPrivateTargets?: boolean; timeoutMs?: number; resolvesTo?: string[] } = {}) {
  const { resolvesTo } = options;
  const dispatcher = createGuardedAgent({
    allowPrivateTargets: options.allowPrivateTargets ?? true,
    connectTimeoutMs: 1_000,
    connectionsPerOrigin: 2,
    resolveAll: resolvesTo
      ? async () => resolvesTo.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }))
      : createSystemLookup(),
  });
  closers.push(() => dispatcher.destroy());
  const poster = createPoster({ connections: { to: async () => dispatcher }, timeoutMs: options.timeoutMs ?? 5_000 });
  closers.push(() => poster.close());
  const to = { organizationId: "org_1", privateHosts: [], url: new URL(url) };
  return poster.post({ ...to, headers: { "Content-Type": "application/json" }, body: "{}" });
}

describe("a POST", () => {
  test.each([200, 201, 204])("is delivered by an answer of %i", async (status) => {
    const url = await subscriber((_request, response) => response.writeHead(status).end());
    expect(await send(url)).toMatchObject({ statusCode: status, error: undefined });
  });

  test.each([301, 302, 304, 307, 308, 400, 404, 410, 429, 500, 503])("fails by an answer of %i", async (status) => {
    const url = await subscriber((_request, response) => response.writeHead(status).end("no"));
    expect(await send(url)).toMatchObject({ statusCode: status, error: "http_status" });
  });

  test("returns the value of Retry-After", async () => {
    const url = await subscriber((_request, response) => response.writeHead(429, { "retry-after": "40" }).end());
    expect(await send(url)).toMatchObject({ retryAfter: "40" });
  });

  test("ends in time without an answer, and with a body that comes slowly", async () => {
    const hanging = await subscriber(() => undefined);
    expect(await send(hanging, { timeoutMs: 200 })).toMatchObject({ statusCode: undefined, error: "timeout" });
    const dripping = await subscriber((_request, response) => {
      response.writeHead(200);
      repeat(response, () => response.write("."));
    });
    expect(await send(dripping, { timeoutMs: 1_500 })).toMatchObject({ statusCode: 200, error: "timeout" });
  });

  test.each<[string, RequestListener, string]>([
    ["resets the connection", (_request, response) => void response.socket!.resetAndDestroy(), "connection"],
    ["answers no HTTP", (_request, response) => void response.socket!.end("what?\r\n\r\n"), "connection"],
    [
      "sends huge headers",
      (_request, response) => void response.setHeader("x", "x".repeat(100_000)).end(),
      "connection",
    ],
    [
      "sends headers slowly",
      (_request, response) => {
        response.socket!.write("HTTP/1.1 200 OK\r\nx: ");
        repeat(response, () => response.socket!.write("x"));
      },
      "timeout",
    ],
    [
      "sends hints without end",
      (_request, response) => repeat(response, () => response.writeEarlyHints({ link: "</a>; rel=preload" })),
      "timeout",
    ],
  ])("has no status where the subscriber %s", async (_what, listener, error) => {
    expect(await send(await subscriber(listener), { timeoutMs: 500 })).toMatchObject({ statusCode: undefined, error });
  });

  test("reads no more than 16 kB of an endless answer, and goes by its status", async () => {
    let sent = 0;
    const url = await subscriber((_request, response) => {
      const chunk = "x".repeat(65_536);
      const pump = () => {
        while (!response.destroyed && response.write(chunk)) sent += chunk.length;
      };
      response.on("drain", pump);
      pump();
    });
    const result = await send(url);
    expect(result).toMatchObject({ statusCode: 200, error: undefined });
    expect(result.excerpt).toHaveLength(1_024);
    expect(sent).toBeLessThan(64 * 1_048_576);
  });

  test("fails if the connection closes in the middle of the answer, even after a 200", async () => {
    const url = await subscriber((_request, response) => {
      response.writeHead(200, { "content-length": 100 });
      response.write("ten bytes.", () => response.socket!.end());
    });
    expect(await send(url)).toMatchObject({ statusCode: 200, error: "connection", excerpt: "ten bytes." });
  });

  test("returns a reset and a refused connection as connection errors", async () => {
    const url = await subscriber((request) => request.socket.destroy());
    expect(await send(url)).toMatchObject({ statusCode: undefined, error: "connection" });
    expect(await send("http://127.0.0.1:1/hook")).toMatchObject({ error: "connection" });
  });

  test("returns a failed TLS handshake as an error", async () => {
    const url = await subscriber((_request, response) => response.end());
    expect(await send(url.replace("http:", "https:"))).toMatchObject({
      error: expect.stringMatching(/tls|connection/),
    });
  });
});

test("an address that is not public is refused, as a literal and behind a name", async () => {
  const allowPrivateTargets = false;
  const refused = { error: "address_refused" };
  expect(await send("http://127.0.0.1:9/hook", { allowPrivateTargets })).toMatchObject(refused);
  const options = { allowPrivateTargets, resolvesTo: ["8.8.8.8", "127.0.0.1"] };
  expect(await send("http://subscriber.example:9/hook", options)).toMatchObject(refused);
});
