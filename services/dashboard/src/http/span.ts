import { trace } from "@opentelemetry/api";
import type { Request, RequestHandler } from "express";

/**
 * Overwrites the client's text that the HTTP instrumentation wrote into the request's span, because a path, a query or a
 * header can hold a TIN. When the request is answered, the span is named after the route.
 */
export function redactSpan(options: { serverAddress: string }): RequestHandler {
  return (request, response, next) => {
    const span = trace.getActiveSpan();
    span?.setAttributes({
      "url.path": "",
      "url.query": "",
      "user_agent.original": "",
      "client.address": request.ip ?? "",
      "server.address": options.serverAddress,
    });
    response.once("finish", () => {
      const route = routeOf(request);
      span?.updateName(`${request.method} ${route}`);
      span?.setAttributes({ "http.route": route, "url.path": route });
    });
    next();
  };
}

/** Returns the template of the request's path. */
export function routeOf(request: Request): string {
  const path: unknown = request.route?.path;
  return typeof path === "string" ? path : "unmatched";
}
