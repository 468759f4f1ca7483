import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Canary } from "./canary.ts";

/** Larger than any webhook of the product. */
const MAX_BYTES = 262_144;

/** Serves the address to which the canary's webhooks are sent: 204 for a valid signature, else 400. */
export async function serveReceiver(options: { receive: Canary["receive"]; host: string; port: number }) {
  const server = createServer((request, response) => {
    bodyOf(request)
      .then((body) => body && options.receive(body, request.headers))
      .then(
        (isValid) => response.writeHead(isValid ? 204 : 400).end(),
        () => response.destroy(),
      );
  });
  server.listen(options.port, options.host);
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Returns undefined if the body is too large. */
async function bodyOf(request: IncomingMessage): Promise<Uint8Array | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
