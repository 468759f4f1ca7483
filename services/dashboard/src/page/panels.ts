import type { Logger } from "@vvs/logging";
import type { ApiKey } from "@vvs/proto/account/v1/api_keys";
import type { Entity } from "@vvs/proto/entity/v1/entity";
import type { ListEndpointsResponse } from "@vvs/proto/webhook/v1/webhook";
import type { CallOptions } from "@vvs/rpc";
import { type Html, html } from "../http/html.ts";
import { isRefusal, unlessRefused } from "../http/refusal.ts";
import { observed, type PageHandler, type Visit } from "../http/session.ts";
import type { Layout } from "../ui/layout.ts";
import type { AppOptions } from "./app-options.ts";

/** Reads the data of one panel of a page; undefined if it failed or took too long, so that the other panels still show. */
export type ReadPanel = <T>(
  visit: Pick<Visit, "caller">,
  name: string,
  read: (options: CallOptions) => Promise<T>,
) => Promise<T | undefined>;

type Panels = AppOptions & { readonly readPanel: ReadPanel };

/** Maximum duration of all calls of a panel, so that one slow panel does not delay the page. */
const PANEL_TIMEOUT_MS = 1_500;

/** Creates a ReadPanel that logs errors and never throws. */
export function createReadPanel({ logger }: { logger: Logger }): ReadPanel {
  return async ({ caller }, panel, read) => {
    try {
      return await read({ timeoutMs: PANEL_TIMEOUT_MS, signal: AbortSignal.timeout(PANEL_TIMEOUT_MS) });
    } catch (error) {
      logger.error({ err: error, panel, request_id: caller.requestId }, "reading a panel failed");
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
    if (!isRefusal(error, "service_unavailable")) throw error;
    logger.error(
      { err: error, request_id: visit.caller.requestId },
      "a part of a page is left out: its service is unavailable",
    );
    return undefined;
  }
}

/** Renders that something can’t be shown now, and what is not affected. */
export const unavailableNote = (what: string, meanwhile = "No data is lost."): Html =>
  html`<p class="notice problem" role="alert">${what} can’t be shown, because a service is temporarily unavailable. ${meanwhile} Try again in a moment.</p>`;

/**
 * Wraps the handler of a page so that it says that the page can’t be shown while a service is unavailable. All other pages can be
 * reached from it.
 */
export function orUnavailable(handle: PageHandler, layout: Layout): PageHandler {
  return async (request, response, visit) => {
    try {
      await handle(request, response, visit);
    } catch (error) {
      if (response.headersSent || !isRefusal(error, "service_unavailable")) throw error;
      observed(response).fields.err = error;
      const content = unavailableNote("This page");
      layout.sendPage(response, { visit, title: "Temporarily unavailable", status: 503, content });
    }
  };
}

/** Returns the API keys, to name the actors of a page; none while unavailable, so that the page shows only ids. */
export async function readKeys(
  { apiKeys, logger }: Pick<AppOptions, "apiKeys" | "logger">,
  visit: Visit,
): Promise<readonly ApiKey[]> {
  return (await unlessUnavailable(logger, visit, () => apiKeys.listApiKeys({ caller: visit.caller })))?.keys ?? [];
}

/** Returns the beginning and the end of a key, by which people recognize it. */
export const keyHint = ({ start, lastFour }: Pick<ApiKey, "start" | "lastFour">): string => `${start}…${lastFour}`;

/** Vendors by entity id, as one organization sees them. */
export type Vendors = ReadonlyMap<string, Entity>;

/** Returns the vendors of items such as monitors; undefined while unavailable. Test events have made-up vendors, which are left out. */
export type ReadVendors = (
  visit: Visit,
  items: readonly { readonly entityId: string; readonly test?: boolean }[],
) => Promise<Vendors | undefined>;

/** Creates a ReadVendors that never throws. Vendors that do not exist are left out. */
export function createReadVendors({ entities, readPanel }: Panels): ReadVendors {
  return (visit, items) =>
    readPanel(visit, "vendors", async (call) => {
      const { caller } = visit;
      const read = async (entityId: string) =>
        (await unlessRefused(entities.getEntity({ caller, entityId }, call), "entity_not_found"))?.entity;
      const ids = new Set(items.filter(({ test }) => !test).map(({ entityId }) => entityId));
      const found = await Promise.all([...ids].map(read));
      return new Map(found.filter((entity) => entity !== undefined).map((entity) => [entity.id, entity]));
    });
}

/** Returns the name of a vendor, or its id while names are unavailable. */
export const vendorName = (vendors: Vendors | undefined, entityId: string): string =>
  vendors?.get(entityId)?.legalName ?? entityId;

/** Renders why a list shows ids in place of names. */
export const namesNote = ({ vendors }: { readonly vendors: Vendors | undefined }): Html | undefined =>
  vendors
    ? undefined
    : html`<p class="notice warning">Vendor names are temporarily unavailable, so vendor IDs are shown instead.</p>`;

export type Endpoints = Pick<ListEndpointsResponse, "endpoints" | "flaggedCount" | "hasMore">;

/** Returns the webhook endpoints and their states; undefined while unavailable. */
export type ReadEndpoints = (
  visit: Pick<Visit, "caller">,
  options: { limit: number; flaggedOnly?: boolean },
) => Promise<Endpoints | undefined>;

/** Creates a ReadEndpoints that never throws. */
export function createReadEndpoints({ deliveries, readPanel }: Panels): ReadEndpoints {
  return (visit, { limit, flaggedOnly = false }) =>
    readPanel(visit, "webhook endpoints", (call) =>
      deliveries.listEndpoints({ caller: visit.caller, limit, flaggedOnly }, call),
    );
}
