import type { PageHandler } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import { readPosition } from "../ui/list-position.ts";
import { readKeys } from "../ui/read-keys.ts";
import { utcTime } from "../webhooks/delivery-filter.ts";
import { operationOf, readRequestFilter } from "./request-filter.ts";
import { requestsPage } from "./requests-page.ts";

const PAGE_SIZE = 50;

/** Creates the handler of the request log: the API calls of the last days, one by one. */
export function createRequestsHandler(context: PageContext): PageHandler {
  return async (request, response, visit) => {
    const list = readRequestFilter(request.query);
    const after = readPosition(request.query.after, "log");
    const { outcome, key, operation, request_id, from, to } = list.filter;
    const listed = {
      caller: visit.caller,
      outcome,
      apiKeyId: key,
      operation: operationOf(operation),
      requestId: request_id,
      from: utcTime(from),
      to: utcTime(to),
      page: { limit: PAGE_SIZE, after },
    };
    const [keys, found] = await Promise.all([
      readKeys(context, visit),
      list.isRefused ? undefined : context.requestLog.listRequests(listed),
    ]);
    const content = requestsPage({ view: visit.view, list, keys, found, isFirst: after === undefined });
    const status = list.isRefused ? 400 : 200;
    context.layout.sendPage(response, { visit, section: "requests", title: "Requests", status, content });
  };
}
