import { isId } from "@vvs/ids";
import type { Logger } from "@vvs/logging";
import type { MonitorService } from "@vvs/proto/monitor/v1/monitor";
import type { Client } from "@vvs/rpc";
import { toProtoCaller } from "@vvs/tenant";
import type { Request } from "express";
import { unlessAway } from "./away.ts";
import { ProblemError } from "./http/problem.ts";
import type { PageHandler, Visit } from "./http/session.ts";
import { readPlace } from "./list-place.ts";
import { askedOf, readMonitorFilter } from "./monitor-filter.ts";
import { cancelMonitorPage } from "./pages/cancel-monitor.ts";
import type { Layout } from "./pages/layout.ts";
import { monitorPage } from "./pages/monitor.ts";
import { monitorsAwayPage, monitorsPage } from "./pages/monitors.ts";
import type { Notice } from "./pages/parts.ts";
import type { ReadVendors } from "./vendors.ts";

export interface MonitorHandlers {
  readonly list: PageHandler;
  readonly view: PageHandler;
  readonly askToCancel: PageHandler;
  readonly cancel: PageHandler;
}

const SHOWN = 25;
const EVENTS_SHOWN = 20;

const notices: Readonly<Record<string, Notice>> = {
  created: {
    kind: "done",
    text: "The monitor is created. Its first run begins now and sets what changes are told from.",
  },
  changed: { kind: "done", text: "The monitor is changed. What changes are told from stays as it was." },
  canceled: { kind: "done", text: "The monitor is canceled. What it found stays here." },
};

export function createMonitorHandlers(options: {
  monitors: Pick<Client<typeof MonitorService>, "listMonitors" | "getMonitor" | "listEvents" | "cancelMonitor">;
  readVendors: ReadVendors;
  layout: Layout;
  logger: Logger;
}): MonitorHandlers {
  const { monitors, readVendors, layout, logger } = options;

  /** Undefined while the service is away. Errors: those of what is no id, and monitor_not_found. */
  async function find(request: Request, visit: Visit) {
    const monitorId = monitorIdOf(request);
    const asked = { caller: toProtoCaller(visit.caller), monitorId };
    return (await unlessAway(logger, visit, () => monitors.getMonitor(asked)))?.monitor;
  }

  return {
    async list(request, response, visit) {
      const { filter, problems } = readMonitorFilter(request.query);
      const after = readPlace(request.query.after, "mon");
      const isRefused = Object.keys(problems).length > 0;
      const asked = { ...askedOf(filter), caller: toProtoCaller(visit.caller), page: { limit: SHOWN, after } };
      const found = isRefused
        ? { monitors: [], next: undefined }
        : await unlessAway(logger, visit, () => monitors.listMonitors(asked));
      const content = monitorsPage({
        view: visit.view,
        mayManage: mayManage(visit),
        filter,
        problems,
        found,
        vendors: await readVendors(visit, found?.monitors.map(({ entityId }) => entityId) ?? []),
        isFirst: after === undefined,
      });
      const status = found ? (isRefused ? 400 : 200) : 503;
      layout.sendPage(response, { visit, section: "monitors", title: "Monitors", status, content });
    },

    async view(request, response, visit) {
      const page = { visit, section: "monitors", title: "Monitor" } as const;
      const after = readPlace(request.query.after, "evt");
      const monitor = await find(request, visit);
      if (!monitor) return layout.sendPage(response, { ...page, status: 503, content: monitorsAwayPage(page.title) });
      const asked = {
        caller: toProtoCaller(visit.caller),
        monitorId: monitor.id,
        page: { limit: EVENTS_SHOWN, after },
      };
      const [vendors, found] = await Promise.all([
        readVendors(visit, [monitor.entityId]),
        unlessAway(logger, visit, () => monitors.listEvents(asked)),
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
      if (!monitor) return layout.sendPage(response, { ...page, status: 503, content: monitorsAwayPage(page.title) });
      const vendors = await readVendors(visit, [monitor.entityId]);
      const content = cancelMonitorPage({ view: visit.view, monitor, vendor: vendors?.get(monitor.entityId) });
      layout.sendPage(response, { ...page, content });
    },

    // The same again changes nothing, so its form needs no token.
    async cancel(request, response, visit) {
      const monitorId = monitorIdOf(request);
      await monitors.cancelMonitor({ caller: toProtoCaller(visit.caller), monitorId });
      response.redirect(303, `${visit.view.path}/monitors/${monitorId}?done=canceled`);
    },
  };
}

const mayManage = ({ may }: Visit) => may("manage_monitors");

function monitorIdOf(request: Request): string {
  const id = String(request.params.monitor_id);
  if (!isId("mon", id)) throw new ProblemError("no_page");
  return id;
}
