import type { Logger } from "@vvs/logging";
import type { ListEndpointsResponse, WebhookDispatcherService } from "@vvs/proto/webhook/v1/webhook";
import type { Client } from "@vvs/rpc";
import { type CallerContext, toProtoCaller } from "@vvs/tenant";

export type Endpoints = Pick<ListEndpointsResponse, "endpoints" | "flaggedCount" | "hasMore">;

/** How the URLs answer that deliveries went to; undefined where it can't be had at the moment. */
export type ReadEndpoints = (
  visit: { readonly caller: CallerContext },
  options: { limit: number; flaggedAlone?: boolean },
) => Promise<Endpoints | undefined>;

/** Endpoints only explain pages that are complete without them, so these do not wait for long. */
const TIMEOUT_MS = 1_000;

/** Total: no page fails for want of endpoints. */
export function createReadEndpoints(options: {
  deliveries: Pick<Client<typeof WebhookDispatcherService>, "listEndpoints">;
  logger: Logger;
}): ReadEndpoints {
  return async ({ caller }, { limit, flaggedAlone = false }) => {
    try {
      const request = { caller: toProtoCaller(caller), limit, flaggedAlone };
      return await options.deliveries.listEndpoints(request, { timeoutMs: TIMEOUT_MS });
    } catch (error) {
      options.logger.error({ err: error, request_id: caller.requestId }, "endpoints could not be read");
      return undefined;
    }
  };
}
