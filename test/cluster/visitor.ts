// Runs in the cluster, out of a ConfigMap: an API client that never pauses, and the subscriber of its own monitor.
import { once } from "node:events";
import { createServer } from "node:http";

const { API_URL, API_KEY, POD_IP } = process.env;
const PORT = 9911;
const AT_ONCE = 4;
const PAUSE_MS = 100;

interface Failure {
  readonly at: string;
  readonly call: string;
  readonly fault: string;
}

const failures: Failure[] = [];
/** How often each event came, by id, in the order in which each came first. */
const received = new Map<string, number>();
let answered = 0;
let monitorId = "";

async function call(method: string, path: string, body?: object): Promise<Record<string, unknown> | undefined> {
  try {
    const response = await fetch(`${API_URL}/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${API_KEY}`, "content-type": "application/json" },
      body: body ? JSON.stringify(body) : null,
      signal: AbortSignal.timeout(30_000),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${response.status} ${text.slice(0, 200)}`);
    answered++;
    return JSON.parse(text);
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : "";
    failures.push({ at: new Date().toISOString(), call: `${method} ${path}`, fault: `${String(error)}${cause}` });
    return undefined;
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
  webhook_url: `http://${POD_IP}:${PORT}/hook`,
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
await Promise.all(Array.from({ length: AT_ONCE }, visit));
