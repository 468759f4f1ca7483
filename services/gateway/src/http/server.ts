import { EventEmitter, once } from "node:events";
import { createServer, type RequestListener, type Server, STATUS_CODES } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { newId } from "@vvs/ids";

export interface HttpServerOptions {
  readonly listener: RequestListener;
  readonly host: string;
  /** 0 takes any free one. */
  readonly port: number;
  /** How long an idle connection is kept; longer than any load balancer in front keeps its own. */
  readonly keepAliveSeconds: number;
  /** Connections beyond this are closed at once. */
  readonly maxConnections: number;
}

export interface HttpServer {
  readonly port: number;
  /** Takes no new connection, waits for running requests, and closes the connections. */
  close(): Promise<void>;
}

/** Serves HTTP with limits on everything a client can draw out, and answers broken requests in JSON too. */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const server = createServer(
    {
      headersTimeout: 10_000,
      requestTimeout: 30_000,
      connectionsCheckingInterval: 5_000,
      keepAliveTimeout: options.keepAliveSeconds * 1_000,
      maxHeaderSize: 16_384,
      // Answered by the application, in JSON.
      requireHostHeader: false,
    },
    options.listener,
  );
  // Node would answer an unknown Expect by itself, without a body or an id.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  server.maxConnections = options.maxConnections;
  const running = trackRunning(server);
  answerBrokenRequests(server, running.isAnswering);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = new Promise<void>((resolve, reject) => {
        server.close((error) => (error ? reject(error) : resolve()));
      });
      await running.none();
      // What is left is waiting for a request that will not be served: kept connections, and ones that never sent any.
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Which connections have requests that are being answered; a client may send several without waiting. */
function trackRunning(server: Server) {
  const requests = new Map<Socket, number>();
  const changed = new EventEmitter();
  server.on("request", ({ socket }, response) => {
    requests.set(socket, (requests.get(socket) ?? 0) + 1);
    response.once("close", () => {
      const left = requests.get(socket)! - 1;
      if (left > 0) requests.set(socket, left);
      else requests.delete(socket);
      changed.emit("ended");
    });
  });
  return {
    isAnswering: (socket: Socket) => requests.has(socket),
    async none(): Promise<void> {
      while (requests.size > 0) await once(changed, "ended");
    },
  };
}

/** What Node's parser refuses never reaches the application. */
function answerBrokenRequests(server: Server, isAnswering: (socket: Socket) => boolean): void {
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    // In the middle of an answer nothing may be put in between.
    if (!socket.writable || isAnswering(socket) || error.code === "ECONNRESET") {
      socket.destroy();
      return;
    }
    socket.end(brokenRequestAnswer(error.code));
  });
}

const BROKEN: Readonly<Record<string, { status: number; message: string }>> = {
  HPE_HEADER_OVERFLOW: { status: 431, message: "The headers are larger than 16 kB." },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: "The request did not arrive in time." },
};

function brokenRequestAnswer(code: string | undefined): string {
  const { status, message } = BROKEN[code ?? ""] ?? { status: 400, message: "The request is not valid HTTP." };
  const requestId = newId("req");
  const body = JSON.stringify({ error: "invalid_request", message, request_id: requestId });
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "Connection: close",
    "Cache-Control: no-store",
    "Content-Type: application/json",
    "X-Content-Type-Options: nosniff",
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    "",
    body,
  ].join("\r\n");
}
