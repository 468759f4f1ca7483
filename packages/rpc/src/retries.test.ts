import { once } from "node:events";
import { createServer as createHttp2Server, type ServerHttp2Stream } from "node:http2";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { afterEach, expect, test } from "@jest/globals";
import { ServiceError } from "@vvs/errors";
import { testRpc } from "./testing.ts";

const { serve, client, close } = testRpc();
const closes: (() => void)[] = [];
afterEach(async () => {
  for (const end of closes.splice(0)) end();
  await close();
});

/** Starts a proxy between a client and its server; `cut` breaks their connections. */
async function startProxy(port: () => number) {
  const sockets = new Set<Socket>();
  const cut = () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  const proxy = createServer((socket) => {
    const there = connect(port(), "127.0.0.1");
    for (const one of [socket, there]) sockets.add(one.on("error", () => undefined));
    socket.pipe(there).pipe(socket);
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  closes.push(cut, () => proxy.close());
  return { port: (proxy.address() as AddressInfo).port, cut };
}

/** Starts a server, and a proxy that cuts the connection during the first call. */
async function serveBehindProxy() {
  let asked = 0;
  const answer = async ({ value }: { value: string }) => {
    asked += 1;
    if (asked === 1) proxy.cut();
    return { value: `${value}, asked ${asked} times` };
  };
  const server = await serve({ ask: answer, getText: answer });
  const proxy = await startProxy(() => server.port);
  return { proxy, asked: () => asked };
}

test("a call that only reads is retried if its connection breaks", async () => {
  const { proxy } = await serveBehindProxy();
  await expect(client(proxy).getText({ value: "text" })).resolves.toMatchObject({ value: "text, asked 2 times" });
});

/** Starts a server that answers the first call with nothing but headers, after which its connection breaks. */
async function serveHalfAnswer() {
  let asked = 0;
  const server = createHttp2Server().listen(0, "127.0.0.1");
  server.on("stream", (stream: ServerHttp2Stream) => {
    asked += 1;
    stream.on("error", () => undefined);
    stream.respond({ "content-type": "application/grpc" }, { waitForTrailers: true });
    // The client has read the headers when it answers the ping.
    if (asked === 1) return void stream.session!.ping(() => stream.session!.destroy());
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
    stream.end(Buffer.from([0, 0, 0, 0, 0])); // an empty message
  });
  await once(server, "listening");
  closes.push(() => server.close());
  return { port: (server.address() as AddressInfo).port, asked: () => asked };
}

test("a call that only reads is retried if its connection breaks in the middle of the answer", async () => {
  const server = await serveHalfAnswer();
  await expect(client(server).getText({})).resolves.toMatchObject({ value: "" });
  expect(server.asked()).toBe(2);
});

test("any other call is not retried, because it may have had its effect", async () => {
  const { proxy, asked } = await serveBehindProxy();
  await expect(client(proxy).ask({ value: "text" })).rejects.toMatchObject({ code: "service_unavailable" });
  expect(asked()).toBe(1);
});

/** Returns a port on which a server starts as soon as a connection to it has failed. */
async function portOfLateServer(): Promise<number> {
  const away = createServer(async (socket) => {
    socket.destroy();
    if (!away.listening) return;
    away.close();
    await once(away, "close");
    await serve({ ask: async () => ({ value: "here" }) }, { port });
  }).listen(0, "127.0.0.1");
  await once(away, "listening");
  const { port } = away.address() as AddressInfo;
  return port;
}

test("any call that finds no server waits for one", async () => {
  const port = await portOfLateServer();
  await expect(client({ port }).ask({})).resolves.toMatchObject({ value: "here" });
});

test("a call that fails fast does not wait for a server", async () => {
  const port = await portOfLateServer();
  const asking = client({ port }).ask({}, { failsFast: true });
  await expect(asking).rejects.toMatchObject({ code: "service_unavailable", outcomeUnknown: false });
});

test("a call that the server itself refuses as service_unavailable is not retried", async () => {
  let asked = 0;
  const server = await serve({
    getText: () => {
      asked += 1;
      return Promise.reject(new ServiceError("service_unavailable"));
    },
  });
  await expect(client(server).getText({})).rejects.toMatchObject({ code: "service_unavailable" });
  expect(asked).toBe(1);
});
