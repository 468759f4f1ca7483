import { once } from "node:events";
import {
  createServer,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { newId } from "@vvs/ids";

export interface HttpServer {
  readonly port: number;
  /** Accepts no new connections, and returns when the running requests are answered and all connections closed. */
  close(): Promise<void>;
}

/**
 * How long a connection with a running request may stand still, in milliseconds. Longer than any answer takes to begin; a client
 * that takes nothing of its answer for so long is cut off.
 */
const STANDSTILL_MS = 60_000;

/**
 * Serves HTTP with time and size limits on every part of a request. Requests that Node's parser refuses are answered in
 * JSON. Once `stopping` is aborted, each connection closes after its answer.
 */
export async function serveHttp(options: {
  listener: RequestListener;
  host: string;
  /** 0: any free port. */
  port: number;
  /** How long an idle connection is kept, in seconds. Must be longer than in any load balancer in front. */
  keepAliveSeconds: number;
  /** Maximum number of connections. Further ones are closed immediately. */
  maxConnections: number;
  stopping: AbortSignal;
  /** `doc_url` in the answers to requests that Node's parser refuses; absent: they have none. */
  refusalDocUrl?: string;
  /** Replaces limits below, for tests. */
  limits?: ServerOptions & { timeout?: number };
}): Promise<HttpServer> {
  const { stopping } = options;
  const server = createServer({
    headersTimeout: 10_000,
    requestTimeout: 30_000,
    connectionsCheckingInterval: 5_000,
    keepAliveTimeout: options.keepAliveSeconds * 1_000,
    maxHeaderSize: 16_384,
    // The application answers a missing header.
    requireHostHeader: false,
    ...options.limits,
  });
  server.timeout = options.limits?.timeout ?? STANDSTILL_MS;
  server.maxConnections = options.maxConnections;
  /** The responses that are not complete. A client may send several requests without waiting for answers. */
  const running = new Map<Socket, Set<ServerResponse>>();
  const closeAfter = (response: ServerResponse) => response.headersSent || response.setHeader("Connection", "close");
  let isClosing = false;
  const closeIfIdle = () => {
    if (isClosing && running.size === 0) server.closeAllConnections();
  };

  server.on("request", ({ socket }, response) => {
    const responses = running.get(socket) ?? new Set();
    running.set(socket, responses.add(response));
    response.once("close", () => {
      responses.delete(response);
      if (responses.size === 0) running.delete(socket);
      closeIfIdle();
    });
    if (stopping.aborted) closeAfter(response);
  });
  server.on("request", options.listener);
  // Without this Node answers an unknown Expect header itself, without a body or an id.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  answerBrokenRequests(server, running, options.refusalDocUrl);
  stopping.addEventListener("abort", () => {
    for (const response of [...running.values()].flatMap((responses) => [...responses])) closeAfter(response);
  });

  server.listen(options.port, options.host);
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server, "close");
      isClosing = true;
      server.close();
      closeIfIdle();
      await closed;
    },
  };
}

const BROKEN: Readonly<Record<string, { status: number; message: string }>> = {
  HPE_HEADER_OVERFLOW: { status: 431, message: "The headers are larger than 16 kB. Send smaller headers." },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: "The request did not arrive in time. Send it again." },
};

/**
 * Answers requests that Node's parser refuses: before they reach the application, while it waits for the body, or behind
 * other requests on the same connection, which get their answers first. Also answers CONNECT, which Node would cut off.
 */
function answerBrokenRequests(
  server: Server,
  running: ReadonlyMap<Socket, ReadonlySet<ServerResponse>>,
  docUrl: string | undefined,
): void {
  const answerTo = (requestId: string, message: string) => refusal({ requestId, message, docUrl });
  /** Returns a whole answer, for a request that has no response of Node. */
  const rawAnswer = (status: number, message: string) => {
    const requestId = newId("req");
    const { headers, body } = answerTo(requestId, message);
    const all = {
      ...headers,
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      "X-Request-Id": requestId,
    };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
    return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, "", body].join("\r\n");
  };
  const answered = new WeakSet<Socket>();
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy();
    // The parser also refuses everything that arrives later.
    if (answered.has(socket)) return;
    answered.add(socket);
    const { status, message } = BROKEN[error.code ?? ""] ?? { status: 400, message: "The request is not valid HTTP." };
    const responses = [...(running.get(socket) ?? [])];
    const broken = responses.find(({ req }) => !req.complete);
    if (!broken) {
      Promise.all(responses.map((response) => once(response, "close"))).then(
        () => (socket.writable ? socket.end(rawAnswer(status, message)) : socket.destroy()),
        () => socket.destroy(),
      );
    } else if (!broken.headersSent) {
      const { headers, body } = answerTo(String(broken.getHeader("X-Request-Id") ?? newId("req")), message);
      // The headers that are already set are kept. Node sends the answers in the order of the requests.
      broken.writeHead(status, headers).end(body);
    }
    // Its answer is being sent, so nothing may be inserted.
    else socket.destroy();
  });
  server.on("connect", (_request, socket: Socket) => {
    socket.on("error", () => undefined);
    socket.write(rawAnswer(400, "CONNECT is not supported. Send the request to this address itself."));
    socket.destroySoon();
  });
}

function refusal(options: { requestId: string; message: string; docUrl: string | undefined }) {
  const { requestId, message, docUrl } = options;
  const body = JSON.stringify({ error: "invalid_request", message, request_id: requestId, doc_url: docUrl });
  const headers = {
    Connection: "close",
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(body),
  };
  return { headers, body };
}
