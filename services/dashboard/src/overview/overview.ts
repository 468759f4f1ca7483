import type { CallOptions } from "@vvs/rpc";
import { toProtoEnvironment } from "@vvs/tenant";
import type { PageHandler, Visit } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import { readLastDay } from "../usage/last-day.ts";
import { overviewPage } from "./overview-page.ts";

/** Maximum number of items in each list of the overview. */
const LIST_LENGTH = 5;

/** Maximum number of monitors without an answer that are counted. */
const MAX_COUNTED = 100;

/** Creates the handler of the overview: what to do today, what is new, and the first steps of a new organization. */
export function createOverviewHandler(context: PageContext): PageHandler {
  const { apiKeys, monitors, vendorList, verification, readEndpoints, readVendors, readPanel, layout, apiBaseUrl } =
    context;

  /** Returns the newest events, each with the entity of its monitor. */
  async function readEvents({ caller }: Visit, call: CallOptions) {
    const { events } = await monitors.listEvents({ caller, page: { limit: LIST_LENGTH } }, call);
    const ids = [...new Set(events.map(({ monitorId }) => monitorId))];
    const found = await Promise.all(ids.map((monitorId) => monitors.getMonitor({ caller, monitorId }, call)));
    const entityIds = new Map(found.map(({ monitor }) => [monitor!.id, monitor!.entityId]));
    return events.map((event) => ({ event, entityId: entityIds.get(event.monitorId)! }));
  }

  return async (_request, response, visit) => {
    const { caller } = visit;
    const environment = toProtoEnvironment(visit.view.environment);
    const page = { limit: LIST_LENGTH };
    const silent = { caller, unanswered: true, page: { limit: MAX_COUNTED } };
    const [keys, counts, usage, providers, budgets, verified, anyMonitor, unanswered, events, used, flagged] =
      await Promise.all([
        readPanel(visit, "keys", (call) => apiKeys.listApiKeys({ caller }, call)),
        readPanel(visit, "vendors", (call) => vendorList.countVendors({ caller }, call)),
        readPanel(visit, "usage", (call) => readLastDay(context, visit, call)),
        readPanel(visit, "providers", (call) => verification.listProviders({ environment }, call)),
        readPanel(visit, "budgets", (call) => verification.getProviderUsage({ caller }, call)),
        readPanel(visit, "verifications", (call) => verification.listVerifications({ caller, page }, call)),
        readPanel(visit, "monitors", (call) => monitors.listMonitors({ caller, page: { limit: 1 } }, call)),
        readPanel(visit, "monitors", (call) => monitors.listMonitors(silent, call)),
        readPanel(visit, "events", (call) => readEvents(visit, call)),
        readEndpoints(visit, { limit: 100 }),
        readEndpoints(visit, { limit: 1, flaggedOnly: true }),
      ]);
    const verifications = verified?.verifications;
    const items = [...(verifications ?? []), ...(events ?? [])];
    const vendors = await readVendors(visit, items);
    const content = overviewPage({
      visit,
      situation: {
        vendors: counts,
        unanswered: unanswered && { count: unanswered.monitors.length, hasMore: unanswered.next !== undefined },
        failingEndpoints: flagged?.flaggedCount,
        providers: providers?.providers,
        budgets: budgets?.providers,
      },
      completedSteps: {
        keys: keys && keys.keys.length > 0,
        verifications: verifications && verifications.length > 0,
        monitors: anyMonitor && anyMonitor.monitors.length > 0,
        // A test event to a wrong URL does not count.
        deliveries: used?.endpoints.some(({ lastSuccessAt }) => lastSuccessAt !== undefined),
      },
      apiBaseUrl,
      verifications,
      events,
      usage,
      vendors,
    });
    layout.sendPage(response, { visit, section: "overview", title: "Overview", content });
  };
}
