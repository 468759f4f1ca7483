import { ServiceError } from "@vvs/errors";
import type { Logger } from "@vvs/logging";
import type { CallOptions } from "@vvs/rpc";
import { type Html, html } from "../http/html.ts";
import type { Visit } from "../http/session.ts";
import type { Page } from "./layout.ts";

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

/** Returns a page that only says that its data is unavailable. */
export function unavailablePage(page: Omit<Page, "content">, notice: Html): Page {
  return {
    ...page,
    status: 503,
    content: html`<h1>${page.title}</h1>
${notice}`,
  };
}
