import type { IncomingMessage, ServerResponse } from "node:http";
import { catalogue, ServiceError } from "@vvs/errors";
import type { Logger } from "@vvs/logging";
import type { ApiKey } from "../auth/api-key.ts";
import { errorBody, errorHeaders } from "./errors.ts";
import { requestIdOf } from "./request-id.ts";

/** One request and its answer. Its fields are filled in as the request passes the checks, and logged in one line at the end. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  /** Aborted when the gateway begins to stop. */
  readonly stopping: AbortSignal;
  /** Aborted when the answer is sent or the client hangs up. */
  readonly hungUp: AbortSignal;
  /** The template of the route. Never the path itself, which can contain any text. */
  route?: string;
  key?: ApiKey;
  error?: ServiceError;
  /** How long the call waited at the client's request, in milliseconds. */
  waitedMs?: number | undefined;
}

/** Counts an answered request for its API key. */
export type CountUse = (key: ApiKey, answered: { status: number; durationMs: number }) => void;

/** Headers of every answer: it must not be cached, and browsers must treat it as JSON. */
const COMMON_HEADERS: Readonly<Record<string, string>> = {
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
};

/** Begins an exchange: sets the request id and the common headers, and logs and counts the request when it is over. */
export function beginExchange(
  request: IncomingMessage,
  response: ServerResponse,
  options: { logger: Logger; stopping: AbortSignal; countUse: CountUse },
): Exchange {
  const requestId = requestIdOf(request.headers["x-request-id"]);
  const over = new AbortController();
  const exchange: Exchange = { request, response, requestId, stopping: options.stopping, hungUp: over.signal };
  const startedAt = performance.now();
  response.setHeader("X-Request-Id", exchange.requestId);
  for (const [name, value] of Object.entries(COMMON_HEADERS)) response.setHeader(name, value);
  response.once("close", () => {
    over.abort();
    const durationMs = performance.now() - startedAt - (exchange.waitedMs ?? 0);
    logExchange(exchange, durationMs, options.logger);
    if (exchange.key) options.countUse(exchange.key, { status: response.statusCode, durationMs });
  });
  return exchange;
}

/** Answers with JSON. Undefined values are left out. */
export function answer(
  { response, stopping }: Exchange,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  const bytes = Buffer.from(JSON.stringify(body), "utf8");
  // A kept connection would delay the stop, and its client would send further requests to this gateway.
  if (stopping.aborted) response.setHeader("Connection", "close");
  response.writeHead(status, { ...headers, "Content-Type": "application/json", "Content-Length": bytes.length });
  response.end(bytes);
}

/** Answers with an error: a ServiceError unchanged, anything else as internal_error without its text. */
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
