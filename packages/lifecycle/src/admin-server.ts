import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface AdminState {
  /** Returns `ready` once the service has started and until it drains. */
  readonly phase: () => "starting" | "ready" | "draining";
  readonly handleMetrics: (request: IncomingMessage, response: ServerResponse) => void;
}

export interface AdminServer {
  readonly port: number;
  close(): void;
}

/**
 * Starts the operators' server: /livez (the process responds; no dependency is checked), /readyz (started and not
 * draining), /metrics. An unavailable store does not make a pod unready, since that would affect all pods together.
 */
export async function startAdminServer(options: {
  host: string;
  port: number;
  state: AdminState;
}): Promise<AdminServer> {
  const { phase, handleMetrics } = options.state;
  const server = createServer((request, response) => {
    if (request.url === "/metrics") return handleMetrics(request, response);
    if (request.url === "/livez") return answer(response, 200, { status: "ok" });
    if (request.url === "/readyz") return answer(response, phase() === "ready" ? 200 : 503, { status: phase() });
    answer(response, 404, { error: "not_found" });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, resolve);
  });
  return { port: (server.address() as AddressInfo).port, close: () => void server.close() };
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
