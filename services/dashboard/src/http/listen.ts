import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

export interface HttpServer {
  readonly port: number;
  /** Stops accepting connections, and returns when the running requests are answered. */
  close(): Promise<void>;
}

const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
/** Longer than load balancers keep idle connections; otherwise they could use one that is just closing. */
const KEEP_ALIVE_TIMEOUT_MS = 620_000;
const MAX_CONNECTIONS = 5_000;

/** Serves HTTP with limits on slow and idle clients. Once `stopping` is aborted, each connection closes after its answer. */
export async function listen(
  handle: RequestListener,
  options: { host: string; port: number; stopping: AbortSignal },
): Promise<HttpServer> {
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      connectionsCheckingInterval: 5_000,
    },
    (request, response) => {
      if (options.stopping.aborted) response.setHeader("connection", "close");
      // A response that began before `stopping` keeps its connection alive, which would delay the shutdown for minutes.
      response.once("close", () => {
        if (options.stopping.aborted) setImmediate(() => server.closeIdleConnections());
      });
      handle(request, response);
    },
  );
  server.maxConnections = MAX_CONNECTIONS;
  server.listen(options.port, options.host);
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeIdleConnections();
      await closed;
    },
  };
}
