import { ServiceError } from "@vvs/errors";
import type { Logger } from "@vvs/logging";
import type { Visit } from "./http/session.ts";

/**
 * What a part of a page shows; undefined where the service that has it is away, so that the rest of the page can still
 * be used. Errors: all others, as they are.
 */
export async function unlessAway<T>(logger: Logger, visit: Visit, read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "service_unavailable") throw error;
    logger.error({ err: error, request_id: visit.caller.requestId }, "a part of a page can't be shown");
    return undefined;
  }
}
