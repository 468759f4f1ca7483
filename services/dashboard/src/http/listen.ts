import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

export interface HttpServer {
  readonly port: number;
  /** Takes no new connections and returns when the requests that run are answered. */
  close(): Promise<void>;
}

const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
/** Longer than load balancers keep idle connections, or they would use one that is just closing. */
const KEEP_ALIVE_TIMEOUT_MS = 620_000;
const MAX_CONNECTIONS = 5_000;

/** Serves HTTP with limits on slow and idle clients. Once `stopping` is aborted, no connection outlives its answer. */
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
      // An answer that began before promised to keep its connection, which would hold up the end for minutes.
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
