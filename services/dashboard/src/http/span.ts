import { trace } from "@opentelemetry/api";
import type { Request, RequestHandler } from "express";

/**
 * Overwrites what the HTTP instrumentation wrote of the client's own text into the request's span: a path, a query or a
 * header can hold a TIN. Once the request is answered its span is named by the route.
 */
export function coverSpan(options: { serverAddress: string }): RequestHandler {
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

/** The template of the request's path. */
export function routeOf(request: Request): string {
  const path: unknown = request.route?.path;
  return typeof path === "string" ? path : "unmatched";
}
