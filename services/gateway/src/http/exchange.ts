import type { IncomingMessage, ServerResponse } from "node:http";
import { catalogue, ServiceError } from "@vvs/errors";
import type { Logger } from "@vvs/logging";
import type { ApiKey } from "../auth/api-key.ts";
import { errorBody, errorHeaders } from "./errors.ts";
import { requestIdOf } from "./request-id.ts";

/** One request and its answer. What is known of it grows as it passes the checks, and is logged in one line at the end. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  /** Aborted when the gateway begins to stop. */
  readonly stopping: AbortSignal;
  /** The route's template; never the path itself, which can hold anything. */
  route?: string;
  key?: ApiKey;
  error?: ServiceError;
}

/** Counts an answered request to the key that it came with. */
export type CountUse = (key: ApiKey, answered: { status: number; durationMs: number }) => void;

/** What every answer carries: it is for one client alone, and JSON whatever a browser makes of it. */
const STANDING_HEADERS: Readonly<Record<string, string>> = {
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
};

/** Begins an exchange: its request id, its standing headers, and when it is over its log line and its count. */
export function beginExchange(
  request: IncomingMessage,
  response: ServerResponse,
  options: { logger: Logger; stopping: AbortSignal; countUse: CountUse },
): Exchange {
  const requestId = requestIdOf(request.headers["x-request-id"]);
  const exchange: Exchange = { request, response, requestId, stopping: options.stopping };
  const startedAt = performance.now();
  response.setHeader("X-Request-Id", exchange.requestId);
  for (const [name, value] of Object.entries(STANDING_HEADERS)) response.setHeader(name, value);
  response.once("close", () => {
    const durationMs = performance.now() - startedAt;
    logExchange(exchange, durationMs, options.logger);
    if (exchange.key) options.countUse(exchange.key, { status: response.statusCode, durationMs });
  });
  return exchange;
}

/** Answers with JSON; values that are undefined are left out. */
export function answer(
  { response, stopping }: Exchange,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  const bytes = Buffer.from(JSON.stringify(body), "utf8");
  // A connection that is kept would hold up the end, and its client would go on sending to a gateway that is leaving.
  if (stopping.aborted) response.setHeader("Connection", "close");
  response.writeHead(status, { ...headers, "Content-Type": "application/json", "Content-Length": bytes.length });
  response.end(bytes);
}

/** Answers with whatever was thrown: a refusal as it is, anything else as internal_error without its text. */
export function answerError(exchange: Exchange, thrown: unknown, headers: Readonly<Record<string, string>> = {}): void {
  const { response } = exchange;
  exchange.error = ServiceError.from(thrown);
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const body = errorBody(exchange.error, exchange.requestId);
  answer(exchange, catalogue[exchange.error.code].http, body, { ...errorHeaders(exchange.error), ...headers });
}

function logExchange({ request, response, requestId, route, key, error }: Exchange, ms: number, logger: Logger): void {
  const line = {
    method: request.method,
    route: route ?? "unmatched",
    status: response.statusCode,
    duration_ms: Math.round(ms * 10) / 10,
    request_id: requestId,
    key_id: key?.id,
    organization_id: key?.tenant.organizationId,
    environment: key?.tenant.environment,
    error: error?.code,
    complete: response.writableFinished,
  };
  const isFault = error?.code === "internal_error" || error?.code === "service_unavailable";
  if (isFault) logger.error({ ...line, err: error }, "request");
  else logger.info(line, "request");
}
