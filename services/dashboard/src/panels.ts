import type { Logger } from "@vvs/logging";
import type { CallOptions } from "@vvs/rpc";
import type { Visit } from "./http/session.ts";

/** Reads what one panel of a page shows; undefined where it can't be had in time, so that the others still show. */
export type ReadPanel = <T>(
  visit: Pick<Visit, "caller">,
  name: string,
  read: (options: CallOptions) => Promise<T>,
) => Promise<T | undefined>;

/** What a panel's calls may take all together; a page of many panels waits no longer for one than people do. */
const PANEL_TIMEOUT_MS = 1_500;

/** Total: no page fails for want of a panel. */
export function createReadPanel({ logger }: { logger: Logger }): ReadPanel {
  return async (visit, name, read) => {
    try {
      return await read({ timeoutMs: PANEL_TIMEOUT_MS, signal: AbortSignal.timeout(PANEL_TIMEOUT_MS) });
    } catch (error) {
      logger.error({ err: error, panel: name, request_id: visit.caller.requestId }, "a panel can't be shown");
      return undefined;
    }
  };
}
