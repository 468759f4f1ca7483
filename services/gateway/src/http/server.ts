import { EventEmitter, once } from "node:events";
import { createServer, type RequestListener, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { newId } from "@vvs/ids";

export interface HttpServerOptions {
  readonly listener: RequestListener;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** How long an idle connection is kept, in seconds. Must be longer than in any load balancer in front. */
  readonly keepAliveSeconds: number;
  /** Maximum number of connections. Further ones are closed immediately. */
  readonly maxConnections: number;
  readonly arrival?: ArrivalLimits;
}

/** How long a request may take to arrive, in milliseconds. */
export interface ArrivalLimits {
  readonly headersMs: number;
  readonly wholeMs: number;
  /** Interval of the check; a request may take this much longer. */
  readonly checkEveryMs: number;
}

const ARRIVAL: ArrivalLimits = { headersMs: 10_000, wholeMs: 30_000, checkEveryMs: 5_000 };

export interface HttpServer {
  readonly port: number;
  /** Accepts no new connections, waits for running requests, and closes all connections. */
  close(): Promise<void>;
}

/** Serves HTTP with time and size limits on every part of a request. Malformed requests are answered in JSON too. */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { headersMs, wholeMs, checkEveryMs } = options.arrival ?? ARRIVAL;
  const server = createServer(
    {
      headersTimeout: headersMs,
      requestTimeout: wholeMs,
      connectionsCheckingInterval: checkEveryMs,
      keepAliveTimeout: options.keepAliveSeconds * 1_000,
      maxHeaderSize: 16_384,
      // The application answers a missing header, in JSON.
      requireHostHeader: false,
    },
    options.listener,
  );
  // Without this Node answers an unknown Expect header itself, without a body or an id.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  server.maxConnections = options.maxConnections;
  const running = trackRunning(server);
  answerBrokenRequests(server, running.on);
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
      // The remaining connections are idle.
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Tracks the running requests of each connection. A client may send several without waiting for answers. */
function trackRunning(server: Server) {
  const running = new Map<Socket, Set<ServerResponse>>();
  const changed = new EventEmitter();
  server.on("request", ({ socket }, response) => {
    const responses = running.get(socket) ?? new Set();
    running.set(socket, responses.add(response));
    response.once("close", () => {
      responses.delete(response);
      if (responses.size === 0) running.delete(socket);
      changed.emit("ended");
    });
  });
  return {
    on: (socket: Socket): readonly ServerResponse[] => [...(running.get(socket) ?? [])],
    async none(): Promise<void> {
      while (running.size > 0) await once(changed, "ended");
    },
  };
}

/** Answers requests that Node's parser refuses: before they reach the application, or while it waits for the body. */
function answerBrokenRequests(server: Server, runningOn: (socket: Socket) => readonly ServerResponse[]): void {
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    const [response, ...more] = runningOn(socket);
    if (!socket.writable || error.code === "ECONNRESET") socket.destroy();
    else if (!response) socket.end(brokenRequestAnswer(error.code));
    else if (more.length === 0 && !response.headersSent && !response.req.complete) endBroken(response, error.code);
    // Another answer is being sent, so nothing may be inserted.
    else socket.destroy();
  });
}

const BROKEN: Readonly<Record<string, { status: number; message: string }>> = {
  HPE_HEADER_OVERFLOW: { status: 431, message: "The headers are larger than 16 kB. Send smaller headers." },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: "The request did not arrive in time. Send it again." },
};

function refusalOf(code: string | undefined, requestId: string) {
  const { status, message } = BROKEN[code ?? ""] ?? { status: 400, message: "The request is not valid HTTP." };
  return { status, body: JSON.stringify({ error: "invalid_request", message, request_id: requestId }) };
}

/** Answers a request whose body is malformed or did not arrive. Keeps its request id and the headers already set. */
function endBroken(response: ServerResponse, code: string | undefined): void {
  const { status, body } = refusalOf(code, String(response.getHeader("X-Request-Id")));
  response.writeHead(status, {
    Connection: "close",
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(body),
  });
  response.end(body);
}

function brokenRequestAnswer(code: string | undefined): string {
  const requestId = newId("req");
  const { status, body } = refusalOf(code, requestId);
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
