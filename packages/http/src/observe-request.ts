import type { IncomingMessage, ServerResponse } from "node:http";
import { context, trace } from "@opentelemetry/api";
import { getRPCMetadata } from "@opentelemetry/core";
import type { Logger } from "@vvs/logging";

/** A request while it is answered. */
export interface ObservedRequest {
  readonly requestId: string;
  /** Further fields of the log line: ids, never contents. `err` makes it an error line. */
  readonly fields: Record<string, unknown>;
  /** How long the call waited at the client's request, in milliseconds; not part of the duration. */
  waitedMs?: number | undefined;
}

/**
 * Sends the request's id and logs one line when the request is over. Line, span and metrics name the route's template.
 * Text from the client, which the HTTP instrumentation wrote into the span, is overwritten, because a path, a query or a
 * header can contain a TIN.
 */
export function observeRequest(
  request: IncomingMessage & { readonly route?: { readonly path: unknown } },
  response: ServerResponse,
  options: {
    logger: Logger;
    requestId: string;
    clientAddress: string;
    serverAddress: string;
    onEnd?: (durationMs: number) => void;
  },
): ObservedRequest {
  const { logger, requestId, clientAddress, serverAddress } = options;
  const observed: ObservedRequest = { requestId, fields: {} };
  const startedAt = performance.now();
  const span = trace.getActiveSpan();
  span?.setAttributes({ "url.path": "", "url.query": "", "user_agent.original": "" });
  span?.setAttributes({ "client.address": clientAddress, "server.address": serverAddress });
  response.setHeader("X-Request-Id", requestId);
  // Before the listener of the instrumentation, which ends the span.
  response.prependOnceListener("close", () => {
    const durationMs = performance.now() - startedAt - (observed.waitedMs ?? 0);
    const { method, route } = request;
    const path = typeof route?.path === "string" ? route.path : undefined;
    if (path !== undefined) {
      span?.updateName(`${method} ${path}`).setAttributes({ "http.route": path, "url.path": path });
      const metadata = getRPCMetadata(context.active());
      if (metadata) metadata.route = path;
    }
    const line = {
      request_id: requestId,
      method,
      route: path ?? "unmatched",
      status: response.statusCode,
      complete: response.writableFinished,
      duration_ms: Math.round(durationMs * 10) / 10,
      ...observed.fields,
    };
    if ("err" in line) logger.error(line, "request");
    else logger.info(line, "request");
    options.onEnd?.(durationMs);
  });
  return observed;
}
