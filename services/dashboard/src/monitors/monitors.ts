import type { Request } from "express";
import { readScheduledRuns } from "../confirmed/read-confirmed.ts";
import { pathId } from "../http/paths.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import { readPosition } from "../ui/list-position.ts";
import { noticeOf } from "../ui/notices.ts";
import { unavailablePage, unlessUnavailable } from "../ui/panels.ts";
import { readMonitorFilter, requestOf } from "./monitor-filter.ts";
import { cancelMonitorPage, monitorPage } from "./monitor-page.ts";
import { monitorsPage, monitorsUnavailable } from "./monitors-page.ts";

const PAGE_SIZE = 25;
const EVENTS_SHOWN = 20;

const notices = {
  created: "The monitor was created. Its first run begins now. Later runs are compared with it.",
  changed: "The monitor was changed. Later runs are still compared with the last one.",
  canceled: "The monitor was canceled. The changes that it found are kept here.",
};

export function createMonitorHandlers(context: PageContext) {
  const { monitors, readVendors, readPanel, layout, logger, apiBaseUrl } = context;

  /** Returns the monitor; undefined while the service is unavailable. Errors: ProblemError for an invalid id, monitor_not_found. */
  async function find(request: Request, visit: Visit) {
    const monitor = { caller: visit.caller, monitorId: pathId(request, "monitor_id", "mon") };
    return (await unlessUnavailable(logger, visit, () => monitors.getMonitor(monitor)))?.monitor;
  }

  return {
    async list(request, response, visit) {
      const list = readMonitorFilter(request.query);
      const after = readPosition(request.query.after, "mon");
      const page = { caller: visit.caller, page: { limit: PAGE_SIZE, after } };
      const found = list.isRefused
        ? undefined
        : await unlessUnavailable(logger, visit, () => monitors.listMonitors({ ...requestOf(list.filter), ...page }));
      const vendors = await readVendors(visit, found?.monitors ?? []);
      const content = monitorsPage({ visit, list, found, vendors, isFirst: after === undefined, apiBaseUrl });
      const status = list.isRefused ? 400 : found ? 200 : 503;
      layout.sendPage(response, { visit, section: "monitors", title: "Monitors", status, content });
    },

    async view(request, response, visit) {
      const page = { visit, section: "monitors", title: "Monitor" } as const;
      const after = readPosition(request.query.after, "evt");
      const monitor = await find(request, visit);
      if (!monitor) return layout.sendPage(response, unavailablePage(page, monitorsUnavailable));
      const events = { caller: visit.caller, monitorId: monitor.id, page: { limit: EVENTS_SHOWN, after } };
      const [vendors, scheduled, found] = await Promise.all([
        readVendors(visit, [monitor]),
        readPanel(visit, "scheduled checks of a monitor", (options) =>
          readScheduledRuns(context, visit, { entityIds: [monitor.entityId] }, options),
        ),
        unlessUnavailable(logger, visit, () => monitors.listEvents(events)),
      ]);
      const vendor = vendors?.get(monitor.entityId);
      const notice = noticeOf(request, notices);
      const content = monitorPage({
        ...{ visit, monitor, vendor, found, isFirst: after === undefined, notice, apiBaseUrl },
        scheduled: scheduled?.get(monitor.entityId)?.find(({ monitorId }) => monitorId === monitor.id),
      });
      layout.sendPage(response, { ...page, content });
    },

    async askToCancel(request, response, visit) {
      const page = { visit, section: "monitors", title: "Cancel a monitor" } as const;
      const monitor = await find(request, visit);
      if (!monitor) return layout.sendPage(response, unavailablePage(page, monitorsUnavailable));
      const vendor = (await readVendors(visit, [monitor]))?.get(monitor.entityId);
      layout.sendPage(response, { ...page, content: cancelMonitorPage({ visit, monitor, vendor }) });
    },

    // Repeating the form changes nothing, so it needs no token.
    async cancel(request, response, visit) {
      const monitorId = pathId(request, "monitor_id", "mon");
      await monitors.cancelMonitor({ caller: visit.caller, monitorId });
      response.redirect(303, `${visit.view.path}/monitors/${monitorId}?done=canceled`);
    },
  } satisfies PageHandlers;
}
