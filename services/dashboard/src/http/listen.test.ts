import { once } from "node:events";
import { Agent, get, type IncomingMessage } from "node:http";
import { expect, test } from "@jest/globals";
import { listen } from "./listen.ts";

test("a stop waits for the page that is being made, and for no connection that is merely open", async () => {
  const stopping = new AbortController();
  const arrived = Promise.withResolvers<void>();
  const made = Promise.withResolvers<void>();
  const server = await listen(
    async (_request, response) => {
      response.writeHead(200); // promises to keep the connection
      response.flushHeaders();
      arrived.resolve();
      await made.promise;
      response.end("page");
    },
    { host: "127.0.0.1", port: 0, stopping: stopping.signal },
  );
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

test("a port in use is an error", async () => {
  const options = { host: "127.0.0.1", stopping: new AbortController().signal };
  const server = await listen(() => undefined, { ...options, port: 0 });
  await expect(listen(() => undefined, { ...options, port: server.port })).rejects.toThrow(/EADDRINUSE/);
  await server.close();
});
