// The subscribers of the benchmark, in one separate process: one server for each address in HOSTS, all on the same port
// of loopback, so that each endpoint has its own origin. The path selects the answer. The process prints this port and
// the port of the server that reports what arrived.
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Arrival, Cut } from "./subscribers.ts";

const DRIP_MS = 100;
const HUGE_BYTES = 300 * 1_048_576;
const CHUNK = Buffer.alloc(65_536, "x");

const arrivals: Arrival[] = [];
const cuts: Cut[] = [];

const now = () => performance.timeOrigin + performance.now();

function answer(request: IncomingMessage, response: ServerResponse): void {
  const at = now();
  let body = "";
  request.setEncoding("utf8");
  request.on("data", (chunk: string) => {
    body += chunk;
  });
  request.on("end", () => {
    const id = String(request.headers["webhook-id"]);
    const url = `http://${request.headers.host}${request.url}`;
    const verification = /"verification_id":"(\w+)"/.exec(body)?.[1] ?? "";
    const arrival = { id, verification, url, attempt: Number(request.headers["x-delivery-attempt"]), at };
    // The bare loop sends too many to keep.
    if (request.url !== "/bare") arrivals.push(arrival);
    if (request.url!.startsWith("/hang")) return;
    if (request.url!.startsWith("/drip")) drip(response, at);
    else if (request.url!.startsWith("/huge")) pour(response, at);
    else response.end("ok");
  });
}

/** Answers one byte at a time, forever. */
function drip(response: ServerResponse, at: number): void {
  response.writeHead(200);
  const timer = setInterval(() => response.write("."), DRIP_MS);
  response.once("close", () => {
    clearInterval(timer);
    cuts.push({ kind: "drip", afterMs: now() - at, bytes: 0 });
  });
}

/** Answers with a huge body, as fast as it is read. */
function pour(response: ServerResponse, at: number): void {
  response.writeHead(200, { "content-length": HUGE_BYTES });
  let bytes = 0;
  const write = () => {
    while (!response.destroyed && bytes < HUGE_BYTES) {
      bytes += CHUNK.length;
      if (!response.write(CHUNK)) return;
    }
    response.end();
  };
  response.on("drain", write);
  response.once("close", () => cuts.push({ kind: "huge", afterMs: now() - at, bytes }));
  write();
}

function listen(listener: RequestListener, host: string, port: number): Promise<number> {
  const server = createServer(listener);
  server.keepAliveTimeout = 60_000;
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, 4_096, () => resolve((server.address() as AddressInfo).port));
  });
}

const control = await listen(
  (request, response) => {
    const { pathname, searchParams } = new URL(request.url!, "http://control");
    if (pathname === "/arrivals") response.end(JSON.stringify(arrivals.slice(Number(searchParams.get("from")))));
    else if (pathname === "/cuts") response.end(JSON.stringify(cuts));
    else response.end(String(arrivals.length));
  },
  "127.0.0.1",
  0,
);
let port = 0;
for (const host of process.env.HOSTS!.split(",")) port = await listen(answer, host, port);
console.log(`${port} ${control}`);
