import { ServiceError } from "@vvs/errors";
import type { Logger } from "@vvs/logging";
import type { Visit } from "../http/session.ts";

/**
 * Reads the data of a part of a page. Returns undefined if its service is unavailable, so that the rest of the page can
 * still be used. Other errors are thrown as they are.
 */
export async function unlessUnavailable<T>(
  logger: Logger,
  visit: Visit,
  read: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "service_unavailable") throw error;
    logger.error(
      { err: error, request_id: visit.caller.requestId },
      "a part of a page is left out: its service is unavailable",
    );
    return undefined;
  }
}
