import { newId } from "@vvs/ids";
import type { Logger } from "@vvs/logging";
import type { RequestHandler, Response } from "express";
import { routeOf } from "./span.ts";

/** Gives each request an id and logs one line when it is answered. The line has the route's template, and no path, query or body. */
export function accessLog(logger: Logger): RequestHandler {
  return (request, response, next) => {
    const startedAt = performance.now();
    response.locals.requestId = newId("req");
    response.set("x-request-id", requestIdOf(response));
    response.once("close", () => {
      logger.info(
        {
          request_id: requestIdOf(response),
          method: request.method,
          route: routeOf(request),
          status: response.statusCode,
          completed: response.writableFinished,
          duration_ms: Math.round(performance.now() - startedAt),
          ...response.locals.logged,
        },
        "request",
      );
    });
    next();
  };
}

/** Returns the id of the request; the services that it calls log it too. */
export function requestIdOf(response: Response): string {
  return response.locals.requestId as string;
}

/** Adds ids to the request's log line. */
export function alsoLog(response: Response, ids: Readonly<Record<string, string>>): void {
  response.locals.logged = { ...response.locals.logged, ...ids };
}
