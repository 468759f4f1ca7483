import { once } from "node:events";
import { createServer, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { expect, test } from "@jest/globals";
import { testRpc } from "./testing.ts";

test("a small reply waits for no large ones: 4 MB of replies can be under way on a connection", async () => {
  const { client, close } = testRpc();
  const server = createServer().listen(0, "127.0.0.1");
  const windows: (number | undefined)[] = [];
  server.on("stream", (stream: ServerHttp2Stream) => {
    const session = stream.session!;
    // The client has sent its window before it answers the ping.
    session.ping(() => {
      windows.push(session.remoteSettings.initialWindowSize, session.state.remoteWindowSize);
      stream.respond({ "content-type": "application/grpc", "grpc-status": "0" }, { endStream: true });
    });
  });
  try {
    await once(server, "listening");
    await client({ port: (server.address() as AddressInfo).port })
      .getText({ value: "" })
      .catch(() => undefined);
    expect(windows.length).toBeGreaterThanOrEqual(2);
    for (const window of windows) expect(window).toBeGreaterThanOrEqual(4_194_304);
  } finally {
    await close();
    server.close();
  }
});
