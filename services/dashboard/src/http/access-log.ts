import { newId } from "@vvs/ids";
import type { Logger } from "@vvs/logging";
import type { RequestHandler, Response } from "express";
import { routeOf } from "./span.ts";

/** Gives each request an id, and logs one line when it is answered: no query, no body, and of the path the template. */
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

/** The id of the request, which services log too. */
export function requestIdOf(response: Response): string {
  return response.locals.requestId as string;
}

/** Adds ids to the request's line. */
export function alsoLog(response: Response, ids: Readonly<Record<string, string>>): void {
  response.locals.logged = { ...response.locals.logged, ...ids };
}
