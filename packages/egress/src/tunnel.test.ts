import { createServer, type IncomingMessage } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer, connect as dial, type Server, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { afterEach, describe, expect, test } from "@jest/globals";
import { request } from "undici";
import { createGuardedAgent } from "./guarded-agent.ts";
import { createSystemLookup } from "./names.ts";
import { createAuthority } from "./testing/certificates.ts";
import { refusal } from "./tunnel.ts";

const authority = createAuthority();
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (let close = closers.pop(); close; close = closers.pop()) await close();
});

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

/** Starts a proxy that connects every name to this machine, or gives the answers of the test; records its requests. */
async function playProxy(options: { answer?: string; tls?: boolean; hang?: boolean } = {}) {
  const requests: { authority: string; credentials: string | undefined }[] = [];
  const server = options.tls ? createTlsServer(authority.issue(["IP:127.0.0.1"])) : createServer();
  server.on("connect", (incoming: IncomingMessage, client: Duplex) => {
    requests.push({ authority: incoming.url!, credentials: incoming.headers["proxy-authorization"] });
    client.on("error", () => undefined);
    if (options.hang) return;
    if (options.answer !== undefined) {
      client.end(options.answer);
      return;
    }
    const target = dial(Number(incoming.url!.split(":").at(-1)), "127.0.0.1", () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      target.pipe(client).pipe(target);
    });
    target.on("error", () => client.end("HTTP/1.1 502 Bad Gateway\r\n\r\n"));
  });
  const port = await listen(server);
  return { requests, url: new URL(`${options.tls ? "https" : "http"}://127.0.0.1:${port}`) };
}

async function subscriber(tls: boolean): Promise<number> {
  const listener = (_incoming: IncomingMessage, response: { end(text: string): void }) => void response.end("ok");
  return listen(tls ? createTlsServer(authority.issue(["DNS:subscriber.example"]), listener) : createServer(listener));
}

async function get(proxy: URL, url: string, connectTimeoutMs = 2_000): Promise<number> {
  const dispatcher = createGuardedAgent({
    resolveAll: createSystemLookup(),
    allowPrivateTargets: false,
    connectTimeoutMs,
    connectionsPerOrigin: 1,
    ca: authority.ca,
    proxy: { url: proxy, ca: authority.ca },
  });
  closers.push(() => dispatcher.destroy());
  const { statusCode, body } = await request(url, { dispatcher });
  await body.dump();
  return statusCode;
}

const proxyFault = { name: "EgressProxyError" };
const hostRefused = { name: "AddressRefusedError" };
const hostTimedOut = { code: "UND_ERR_CONNECT_TIMEOUT" };

describe("through a proxy", () => {
  test.each([
    ["http:", "https:"],
    ["http:", "http:"],
    ["https:", "https:"],
  ])("that speaks %s, %s goes by CONNECT, and the proxy resolves the name", async (spoken, scheme) => {
    const proxy = await playProxy({ tls: spoken === "https:" });
    const port = await subscriber(scheme === "https:");
    expect(await get(proxy.url, `${scheme}//subscriber.example:${port}/`)).toBe(200);
    expect(proxy.requests).toEqual([{ authority: `subscriber.example:${port}`, credentials: undefined }]);
  });

  test("the credentials in its URL are sent", async () => {
    const proxy = await playProxy();
    const port = await subscriber(false);
    proxy.url.username = "us";
    proxy.url.password = "p%40ss";
    expect(await get(proxy.url, `http://subscriber.example:${port}/`)).toBe(200);
    expect(proxy.requests[0]!.credentials).toBe(`Basic ${Buffer.from("us:p@ss").toString("base64")}`);
  });

  test("the certificate is the host's, verified against its name", async () => {
    const proxy = await playProxy();
    const port = await subscriber(true);
    const getting = get(proxy.url, `https://somebody-else.example:${port}/`);
    await expect(getting).rejects.toMatchObject({ code: "ERR_TLS_CERT_ALTNAME_INVALID" });
  });

  test.each(["127.0.0.1", "2130706433", "[::1]", "[::ffff:10.0.0.1]", "169.254.169.254"])(
    "no request for %s reaches the proxy",
    async (host) => {
      const proxy = await playProxy();
      await expect(get(proxy.url, `https://${host}/`)).rejects.toMatchObject(hostRefused);
      expect(proxy.requests).toEqual([]);
    },
  );

  test("a proxy that hangs up, answers nonsense or is unavailable is reported as our fault", async () => {
    const port = await listen(createTcpServer((socket) => socket.end()));
    const silent = new URL(`http://127.0.0.1:${port}`);
    await expect(get(silent, "https://subscriber.example/")).rejects.toMatchObject(proxyFault);
    const nonsense = await playProxy({ answer: "what?\r\n\r\n" });
    await expect(get(nonsense.url, "https://subscriber.example/")).rejects.toMatchObject(proxyFault);
    const unavailable = new URL("http://127.0.0.1:1");
    await expect(get(unavailable, "https://subscriber.example/")).rejects.toMatchObject(proxyFault);
    const plain = await playProxy();
    plain.url.protocol = "https:";
    await expect(get(plain.url, "https://subscriber.example/")).rejects.toMatchObject(proxyFault);
  });

  test("a proxy that was reached and does not answer in time is reported as a timeout of the host", async () => {
    const proxy = await playProxy({ hang: true });
    await expect(get(proxy.url, "https://subscriber.example/", 200)).rejects.toMatchObject(hostTimedOut);
  });

  test("a proxy that can't connect is reported as a failure of the host", async () => {
    const proxy = await playProxy();
    const error: Error = await get(proxy.url, "https://subscriber.example:1/").catch((cause) => cause);
    expect(error).not.toMatchObject(proxyFault);
    expect(error.message).toMatch(/could not connect/);
  });
});

test.each([
  [403, {}, "AddressRefusedError"],
  [407, { "x-smokescreen-error": "denied" }, "AddressRefusedError"],
  [407, {}, "EgressProxyError"],
  [502, {}, "Error"],
  [503, { "x-squid-error": "ERR_CONNECT_FAIL 111" }, "Error"],
  [504, {}, "ConnectTimeoutError"],
  [503, {}, "EgressProxyError"],
  [500, { "x-smokescreen-error": "unexpected" }, "EgressProxyError"],
  [429, {}, "EgressProxyError"],
  [400, {}, "EgressProxyError"],
  [302, {}, "EgressProxyError"],
])("a proxy's %i with %j is a %s", (status, headers, name) => {
  expect(refusal(status, headers).name).toBe(name);
});
