import type { PageContext } from "../page/page-context.ts";
import type { PageRoutes } from "../page/routes.ts";
import { createMonitorHandlers } from "./monitor.ts";
import { createChangeMonitorHandlers } from "./monitor-form.ts";
import { createMonitorList } from "./monitor-list.ts";

export function monitorRoutes(context: PageContext): PageRoutes {
  const monitor = createMonitorHandlers(context);
  const change = createChangeMonitorHandlers(context);
  return [
    ["get", "/monitors", "read", createMonitorList(context).list],
    ["get", "/monitors/:monitor_id", "read", monitor.view],
    ["get", "/monitors/:monitor_id/change", "manage_monitors", change.ask],
    ["post", "/monitors/:monitor_id/change", "manage_monitors", change.change],
    ["get", "/monitors/:monitor_id/cancel", "manage_monitors", monitor.askToCancel],
    ["post", "/monitors/:monitor_id/cancel", "manage_monitors", monitor.cancel],
  ];
}
