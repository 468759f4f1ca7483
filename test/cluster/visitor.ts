// Runs in the cluster, from a ConfigMap: an API client that never pauses, and the subscriber of its own monitor.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";

const { API_URL, API_KEY, HOST, PORT } = process.env;
const CONCURRENCY = 4;
const PAUSE_MS = 100;
const TIMEOUT_MS = 30_000;
/** Maximum attempts of a request whose connection breaks: for a moment, a Service routes to a pod that is gone. */
const ATTEMPTS = 5;
/** A 503 after this time is no missing pod: the call met a deadline on a node that starts all services at once. */
const DEADLINE_MS = 3_000;

/** A request that got no good answer, or one that was sent again. */
interface Fault {
  readonly at: string;
  readonly call: string;
  readonly afterMs: number;
  readonly fault: string;
  readonly requestId: string;
}

const failures: Fault[] = [];
const resent: Fault[] = [];
/** How often each event arrived, by id, in the order of first arrival. */
const received = new Map<string, number>();
let answered = 0;
let monitorId = "";

/**
 * Sends a request as HTTP clients do (RFC 9110, 9.2.2): a request that may be repeated, such as a POST with an
 * Idempotency-Key, is sent again if its connection broke before any answer. A killed gateway breaks its connections,
 * and one that stops closes idle ones, perhaps while a request is on its way. So is one that met a deadline, as the
 * contract says. A 503 that comes sooner is a failure.
 */
async function call(method: string, path: string, body?: object): Promise<Record<string, unknown> | undefined> {
  const requestId = randomUUID();
  const headers = {
    authorization: `Bearer ${API_KEY}`,
    "content-type": "application/json",
    "x-request-id": requestId,
    ...(method === "POST" && { "idempotency-key": requestId }),
  };
  const startedAt = performance.now();
  const record = (list: Fault[], fault: string) => {
    const afterMs = Math.round(performance.now() - startedAt);
    list.push({ at: new Date().toISOString(), call: `${method} ${path}`, afterMs, fault, requestId });
  };
  for (let attempt = 1; ; attempt++) {
    const attemptedAt = performance.now();
    try {
      const request = { method, headers, body: body ? JSON.stringify(body) : null };
      const response = await fetch(`${API_URL}/v1${path}`, { ...request, signal: AbortSignal.timeout(TIMEOUT_MS) });
      const text = await response.text();
      if (!response.ok) {
        const isLate = response.status === 503 && performance.now() - attemptedAt > DEADLINE_MS;
        record(isLate && attempt < ATTEMPTS ? resent : failures, `${response.status} ${text.slice(0, 200)}`);
        if (!isLate || attempt === ATTEMPTS) return undefined;
        await new Promise((resolve) => setTimeout(resolve, 1_000 * Number(response.headers.get("retry-after") ?? 1)));
        continue;
      }
      answered++;
      return JSON.parse(text);
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : "";
      const isBroken = cause !== "";
      record(isBroken && attempt < ATTEMPTS ? resent : failures, `${error}${cause}`);
      if (!isBroken || attempt === ATTEMPTS) return undefined;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * attempt));
    }
  }
}

async function history(): Promise<unknown[]> {
  const events: unknown[] = [];
  let cursor = "";
  do {
    const page = await call("GET", `/monitors/${monitorId}/events?limit=100${cursor && `&cursor=${cursor}`}`);
    events.push(...((page?.events as unknown[]) ?? []));
    cursor = (page?.next_cursor as string | undefined) ?? "";
  } while (cursor);
  return events;
}

const server = createServer(async (request, response) => {
  if (request.method === "POST") {
    for await (const _ of request);
    const id = String(request.headers["webhook-id"]);
    received.set(id, (received.get(id) ?? 0) + 1);
    response.writeHead(204).end();
    return;
  }
  const report = {
    answered,
    failures,
    resent,
    received: [...received],
    history: request.url === "/history" ? await history() : [],
  };
  response.writeHead(200).end(JSON.stringify(report));
});
server.listen(PORT);
await once(server, "listening");

const found = await call("POST", "/entities/lookup", { identifiers: { uei: "SANDBXCHNGE1" } });
const entityId = String(found?.id);
const monitor = await call("POST", "/monitors", {
  entity_id: entityId,
  checks: ["sam_registration"],
  frequency: "hourly",
  webhook_url: `http://${HOST}:${PORT}/hook`,
});
monitorId = String(monitor?.id);
console.log("visiting", entityId, monitorId);

async function visit(): Promise<never> {
  for (;;) {
    await call("POST", "/verify", {
      identifiers: { uei: "SANDBXACTVE1" },
      checks: ["sam_registration"],
      mode: "realtime",
    });
    await call("GET", `/entities/${entityId}`);
    await call("GET", `/monitors/${monitorId}`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
await Promise.all(Array.from({ length: CONCURRENCY }, visit));
