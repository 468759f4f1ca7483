import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { catalogue, ServiceError } from "@vvs/errors";
import { outside } from "@vvs/fair-queue";
import { type ObservedRequest, observeRequest } from "@vvs/http";
import { containsTin } from "@vvs/identifiers";
import { type IdPrefix, isId, newId } from "@vvs/ids";
import type { Logger } from "@vvs/logging";
import type { ApiKey } from "./api-key.ts";
import { clientAddress } from "./client-address.ts";
import { errorBody, errorHeaders } from "./errors.ts";

/** What a request with a valid key calls. It has no text of the path that the route does not know. */
interface CallTarget {
  /** Template of the path. */
  readonly route: string;
  /** The id in the path; empty if there is none, or if it does not have the form of the route's ids. */
  readonly objectId: string;
}

/** A request with a valid key, when it is over. */
export interface AnsweredCall extends CallTarget {
  readonly requestId: string;
  readonly method: string;
  /** 0 if the client hung up before the answer. */
  readonly status: number;
  readonly durationMs: number;
  /** Code of the error in the answer; empty if there is none. */
  readonly error: string;
}

/** One request and its answer. Its fields are filled in as the request passes the checks. */
export interface Exchange extends ObservedRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Aborted when the gateway begins to stop. */
  readonly stopping: AbortSignal;
  /** Aborted when the answer is sent or the client hangs up. */
  readonly hungUp: AbortSignal;
  readonly clientAddress: string;
  /** Address of the service for clients, without a trailing slash. */
  readonly publicBaseUrl: string;
  key?: ApiKey | undefined;
  /** What the key calls; set with it. */
  target?: CallTarget | undefined;
}

/** Records a request of an API key when it is over. */
export type RecordCall = (key: Pick<ApiKey, "id" | "tenant">, call: AnsweredCall) => void;

/** Headers of every answer: it must not be cached, and browsers must treat it as JSON. */
const COMMON_HEADERS: Readonly<Record<string, string>> = {
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
};

/** Reason of the abort at the end of each request. Without one, an error with its stack would be made for each. */
const OVER = "the request is over";

export interface ExchangeOptions {
  readonly logger: Logger;
  readonly recordCall: RecordCall;
  readonly trustedProxyHops: number;
  /** Host of the public base URL, for spans. */
  readonly serverAddress: string;
  readonly stopping: AbortSignal;
  readonly context: Pick<Exchange, "publicBaseUrl">;
}

/** Begins an exchange: sets the headers that every answer has, and records the request when it is over. */
export function beginExchange(request: IncomingMessage, response: ServerResponse, options: ExchangeOptions): Exchange {
  const over = new AbortController();
  const address = clientAddress(request, options.trustedProxyHops);
  const observed = observeRequest(request, response, {
    ...options,
    requestId: requestIdOf(request.headers),
    clientAddress: address,
    onEnd(durationMs) {
      over.abort(OVER);
      const { key, target } = exchange;
      if (key && target) options.recordCall(key, answeredCall(exchange, target, durationMs));
    },
  });
  const exchange: Exchange = Object.assign(observed, {
    request,
    response,
    stopping: options.stopping,
    hungUp: over.signal,
    clientAddress: address,
    publicBaseUrl: options.context.publicBaseUrl,
  });
  for (const [name, value] of Object.entries(COMMON_HEADERS)) response.setHeader(name, value);
  return exchange;
}

/** Returns what a request calls. `text` stands in the place of the id in its path. */
export function callTarget(route: { path: string; id?: { readonly prefix: IdPrefix } }, text: string): CallTarget {
  return { route: route.path, objectId: route.id && isId(route.id.prefix, text) ? text : "" };
}

function answeredCall(exchange: Exchange, target: CallTarget, durationMs: number): AnsweredCall {
  const { request, response, requestId, fields } = exchange;
  return {
    ...target,
    requestId,
    method: request.method ?? "",
    status: response.headersSent ? response.statusCode : 0,
    durationMs,
    error: typeof fields.error === "string" ? fields.error : "",
  };
}

/** Answers with JSON, without undefined values; with a text as it is, whose media type is in the headers. */
export function answer(
  { response }: Exchange,
  status: number,
  body: object | string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const bytes = Buffer.from(typeof body === "string" ? body : JSON.stringify(body), "utf8");
  response.writeHead(status, { "Content-Type": "application/json", ...headers, "Content-Length": bytes.length });
  response.end(bytes);
}

/**
 * Answers with a text in parts, as fast as the client reads it. Errors of the parts end the answer before its end, so that the
 * client sees that it is not complete.
 */
export async function answerInParts(
  { response, hungUp, fields }: Exchange,
  headers: Readonly<Record<string, string>>,
  parts: AsyncIterable<string>,
): Promise<void> {
  response.writeHead(200, headers);
  try {
    for await (const part of parts) {
      if (hungUp.aborted) return;
      // A client that reads slowly holds no seat.
      if (!response.write(part)) await outside(() => once(response, "drain", { signal: hungUp }));
    }
    response.end();
  } catch (err) {
    if (!hungUp.aborted) fields.err = err;
    response.destroy();
  }
}

/** Answers with an error: a ServiceError unchanged, anything else as internal_error without its text. */
export function answerError(exchange: Exchange, thrown: unknown, headers: Readonly<Record<string, string>> = {}): void {
  const { response, fields, requestId, publicBaseUrl } = exchange;
  const error = ServiceError.from(thrown);
  fields.error = error.code;
  if (error.code === "internal_error" || error.code === "service_unavailable") fields.err = error;
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const body = errorBody(error, requestId, publicBaseUrl);
  answer(exchange, catalogue[error.code].http, body, { ...errorHeaders(error), ...headers });
}

const PRINTABLE = /^[\x20-\x7e]{1,128}$/;

/**
 * Returns the id of a request: the client's own if it has 1–128 printable ASCII characters, otherwise a new req_…. Ids
 * appear in logs and snapshots, so an id that looks like a TIN is not used.
 */
function requestIdOf({ "x-request-id": header }: IncomingMessage["headers"]): string {
  const own = Array.isArray(header) ? header.join(", ") : header;
  return own !== undefined && PRINTABLE.test(own) && !containsTin(own) ? own : newId("req");
}
