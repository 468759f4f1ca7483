import { once } from "node:events";
import { Agent, get, type IncomingMessage } from "node:http";
import { expect, test } from "@jest/globals";
import { serveHttp } from "./index.ts";

const address = { host: "127.0.0.1", port: 0, keepAliveSeconds: 600, maxConnections: 10 };

test("a stop waits for the response in progress, and closes idle connections", async () => {
  const stopping = new AbortController();
  const arrived = Promise.withResolvers<void>();
  const made = Promise.withResolvers<void>();
  const server = await serveHttp({
    ...address,
    async listener(_request, response) {
      response.writeHead(200); // promises to keep the connection
      response.flushHeaders();
      arrived.resolve();
      await made.promise;
      response.end("page");
    },
    stopping: stopping.signal,
  });
  const agent = new Agent({ keepAlive: true });
  const request = get({ host: "127.0.0.1", port: server.port, agent });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  await arrived.promise;

  stopping.abort();
  let isClosed = false;
  const closed = server.close().then(() => {
    isClosed = true;
  });
  expect(isClosed).toBe(false);
  made.resolve();
  expect((await response.toArray()).join("")).toBe("page");
  await closed;
  agent.destroy();
});

test("a response that begins after the stop closes its connection", async () => {
  const stopping = new AbortController();
  const arrived = Promise.withResolvers<void>();
  const made = Promise.withResolvers<void>();
  const server = await serveHttp({
    ...address,
    async listener(_request, response) {
      arrived.resolve();
      await made.promise;
      response.end();
    },
    stopping: stopping.signal,
  });
  const url = `http://127.0.0.1:${server.port}`;
  const running = fetch(url);
  await arrived.promise;
  stopping.abort();
  made.resolve();
  expect((await running).headers.get("connection")).toBe("close");
  expect((await fetch(url)).headers.get("connection")).toBe("close");
  await server.close();
});

test("a connection whose client takes nothing is closed", async () => {
  const sent = Promise.withResolvers<boolean>();
  const server = await serveHttp({
    ...address,
    listener(_request, response) {
      // More than the buffers of a connection hold.
      response.end(Buffer.alloc(50_000_000));
      response.once("close", () => sent.resolve(response.writableFinished));
    },
    stopping: new AbortController().signal,
    limits: { timeout: 100 },
  });
  const request = get({ host: "127.0.0.1", port: server.port });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  expect(await sent.promise).toBe(false);
  await expect(response.toArray()).rejects.toThrow("aborted");
  await server.close();
});

test("a port in use is an error", async () => {
  const options = { ...address, listener: () => undefined, stopping: new AbortController().signal };
  const server = await serveHttp(options);
  await expect(serveHttp({ ...options, port: server.port })).rejects.toThrow(/EADDRINUSE/);
  await server.close();
});
