import type { ListEndpointsResponse } from "@vvs/proto/webhook/v1/webhook";
import type { AppOptions } from "../app-options.ts";
import type { Visit } from "../http/session.ts";

export type Endpoints = Pick<ListEndpointsResponse, "endpoints" | "flaggedCount" | "hasMore">;

/** Returns the webhook endpoints and their states; undefined while unavailable. */
export type ReadEndpoints = (
  visit: Pick<Visit, "caller">,
  options: { limit: number; flaggedOnly?: boolean },
) => Promise<Endpoints | undefined>;

/** Short, because pages are complete without the endpoints. */
const TIMEOUT_MS = 1_000;

/** Creates a ReadEndpoints that logs errors and never throws. */
export function createReadEndpoints(options: Pick<AppOptions, "deliveries" | "logger">): ReadEndpoints {
  return async ({ caller }, { limit, flaggedOnly = false }) => {
    try {
      const request = { caller, limit, flaggedOnly };
      return await options.deliveries.listEndpoints(request, { timeoutMs: TIMEOUT_MS });
    } catch (error) {
      options.logger.error({ err: error, request_id: caller.requestId }, "reading webhook endpoints failed");
      return undefined;
    }
  };
}
