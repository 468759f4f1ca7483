import { appendFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";

/** Receives traces over OTLP (HTTP, JSON) like a collector, and appends each request to a file, one per line. */
export async function startOtlpReceiver(file: string): Promise<{ url: string; close(): void }> {
  const server = createServer(async (request, response) => {
    const body = await read(request);
    appendFileSync(file, `${body.toString("utf8")}\n`);
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function read(request: IncomingMessage): Promise<Buffer> {
  const body = await buffer(request);
  return request.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body;
}
