import type { Logger } from "@vvs/logging";
import type { CallOptions } from "@vvs/rpc";
import type { Visit } from "../http/session.ts";

/** Reads the data of one panel of a page; undefined if it failed or took too long, so that the other panels still show. */
export type ReadPanel = <T>(
  visit: Pick<Visit, "caller">,
  name: string,
  read: (options: CallOptions) => Promise<T>,
) => Promise<T | undefined>;

/** Maximum duration of all calls of a panel, so that one slow panel does not delay the page. */
const PANEL_TIMEOUT_MS = 1_500;

/** Creates a ReadPanel that logs errors and never throws. */
export function createReadPanel({ logger }: { logger: Logger }): ReadPanel {
  return async (visit, name, read) => {
    try {
      return await read({ timeoutMs: PANEL_TIMEOUT_MS, signal: AbortSignal.timeout(PANEL_TIMEOUT_MS) });
    } catch (error) {
      logger.error({ err: error, panel: name, request_id: visit.caller.requestId }, "reading a panel failed");
      return undefined;
    }
  };
}
