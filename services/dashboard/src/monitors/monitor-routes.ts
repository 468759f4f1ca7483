import type { Express } from "express";
import type { SignedInPage } from "../http/session.ts";
import type { EnvironmentView } from "../ui/environments.ts";
import type { createChangeMonitorHandlers } from "./change-monitor.ts";
import type { createCreateMonitorHandlers } from "./create-monitor.ts";
import type { createMonitorHandlers } from "./monitors.ts";

/** Adds the routes of monitors. */
export function addMonitorRoutes(
  app: Express,
  view: EnvironmentView,
  options: {
    signedIn: SignedInPage;
    monitors: ReturnType<typeof createMonitorHandlers>;
    createMonitor: ReturnType<typeof createCreateMonitorHandlers>;
    changeMonitor: ReturnType<typeof createChangeMonitorHandlers>;
  },
): void {
  const { signedIn, monitors, createMonitor, changeMonitor } = options;
  const path = `${view.path}/monitors`;
  app.get(path, signedIn(view, "read", monitors.list));
  app.post(path, signedIn(view, "manage_monitors", createMonitor.create));
  app.get(`${path}/new`, signedIn(view, "manage_monitors", createMonitor.ask));
  app.get(`${path}/:monitor_id`, signedIn(view, "read", monitors.view));
  app.get(`${path}/:monitor_id/change`, signedIn(view, "manage_monitors", changeMonitor.ask));
  app.post(`${path}/:monitor_id/change`, signedIn(view, "manage_monitors", changeMonitor.change));
  app.get(`${path}/:monitor_id/cancel`, signedIn(view, "manage_monitors", monitors.askToCancel));
  app.post(`${path}/:monitor_id/cancel`, signedIn(view, "manage_monitors", monitors.cancel));
}
