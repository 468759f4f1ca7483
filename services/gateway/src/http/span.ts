import type { IncomingMessage } from "node:http";
import { context, trace } from "@opentelemetry/api";
import { getRPCMetadata } from "@opentelemetry/core";

/**
 * Overwrites the text from the client that the HTTP instrumentation wrote into the request's span, because a path, a query
 * or a header can contain a TIN.
 */
export function coverSpan(request: IncomingMessage, own: { clientAddress: string; serverAddress: string }): void {
  const span = trace.getActiveSpan();
  span?.setAttributes({ "url.path": "", "client.address": own.clientAddress, "server.address": own.serverAddress });
  if (request.url?.includes("?")) span?.setAttribute("url.query", "");
  if (request.headers["user-agent"] !== undefined) span?.setAttribute("user_agent.original", "");
}

/** Sets the route as the name of the request's span and as a label of its metrics. */
export function nameSpan(request: IncomingMessage, route: string): void {
  const span = trace.getActiveSpan();
  span?.updateName(`${request.method} ${route}`);
  span?.setAttributes({ "http.route": route, "url.path": route });
  const metadata = getRPCMetadata(context.active());
  if (metadata) metadata.route = route;
}
