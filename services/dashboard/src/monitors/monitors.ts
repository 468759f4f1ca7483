import { isId } from "@vvs/ids";
import type { Request } from "express";
import { ProblemError } from "../http/problem.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import { readPosition } from "../ui/list-position.ts";
import { unlessUnavailable } from "../ui/panels.ts";
import type { Notice } from "../ui/parts.ts";
import { cancelMonitorPage } from "./cancel-monitor-page.ts";
import { askedOf, readMonitorFilter } from "./monitor-filter.ts";
import { monitorPage } from "./monitor-page.ts";
import { monitorsPage, monitorsUnavailablePage } from "./monitors-page.ts";

const PAGE_SIZE = 25;
const EVENTS_SHOWN = 20;

const notices: Readonly<Record<string, Notice>> = {
  created: {
    kind: "done",
    text: "The monitor was created. Its first run begins now. Later runs are compared with it.",
  },
  changed: { kind: "done", text: "The monitor was changed. Later runs are still compared with the last one." },
  canceled: { kind: "done", text: "The monitor was canceled. The changes that it found are kept here." },
};

export function createMonitorHandlers({ monitors, readVendors, layout, logger }: PageContext) {
  /** Returns the monitor; undefined while the service is unavailable. Errors: ProblemError for an invalid id, monitor_not_found. */
  async function find(request: Request, visit: Visit) {
    const monitorId = monitorIdOf(request);
    const asked = { caller: visit.caller, monitorId };
    return (await unlessUnavailable(logger, visit, () => monitors.getMonitor(asked)))?.monitor;
  }

  return {
    async list(request, response, visit) {
      const { filter, problems } = readMonitorFilter(request.query);
      const after = readPosition(request.query.after, "mon");
      const isRefused = Object.keys(problems).length > 0;
      const asked = { ...askedOf(filter), caller: visit.caller, page: { limit: PAGE_SIZE, after } };
      const found = isRefused
        ? { monitors: [], next: undefined }
        : await unlessUnavailable(logger, visit, () => monitors.listMonitors(asked));
      const content = monitorsPage({
        view: visit.view,
        mayManage: mayManage(visit),
        filter,
        problems,
        found,
        vendors: await readVendors(visit, found?.monitors ?? []),
        isFirst: after === undefined,
      });
      const status = found ? (isRefused ? 400 : 200) : 503;
      layout.sendPage(response, { visit, section: "monitors", title: "Monitors", status, content });
    },

    async view(request, response, visit) {
      const page = { visit, section: "monitors", title: "Monitor" } as const;
      const after = readPosition(request.query.after, "evt");
      const monitor = await find(request, visit);
      if (!monitor)
        return layout.sendPage(response, { ...page, status: 503, content: monitorsUnavailablePage(page.title) });
      const asked = {
        caller: visit.caller,
        monitorId: monitor.id,
        page: { limit: EVENTS_SHOWN, after },
      };
      const [vendors, found] = await Promise.all([
        readVendors(visit, [monitor]),
        unlessUnavailable(logger, visit, () => monitors.listEvents(asked)),
      ]);
      const content = monitorPage({
        view: visit.view,
        mayManage: mayManage(visit),
        monitor,
        vendor: vendors?.get(monitor.entityId),
        found,
        isFirst: after === undefined,
        notice: notices[String(request.query.done)],
      });
      layout.sendPage(response, { ...page, content });
    },

    async askToCancel(request, response, visit) {
      const page = { visit, section: "monitors", title: "Cancel a monitor" } as const;
      const monitor = await find(request, visit);
      if (!monitor)
        return layout.sendPage(response, { ...page, status: 503, content: monitorsUnavailablePage(page.title) });
      const vendors = await readVendors(visit, [monitor]);
      const content = cancelMonitorPage({ view: visit.view, monitor, vendor: vendors?.get(monitor.entityId) });
      layout.sendPage(response, { ...page, content });
    },

    // Repeating the form changes nothing, so it needs no token.
    async cancel(request, response, visit) {
      const monitorId = monitorIdOf(request);
      await monitors.cancelMonitor({ caller: visit.caller, monitorId });
      response.redirect(303, `${visit.view.path}/monitors/${monitorId}?done=canceled`);
    },
  } satisfies PageHandlers;
}

const mayManage = ({ may }: Visit) => may("manage_monitors");

function monitorIdOf(request: Request): string {
  const id = String(request.params.monitor_id);
  if (!isId("mon", id)) throw new ProblemError("page_not_found");
  return id;
}
