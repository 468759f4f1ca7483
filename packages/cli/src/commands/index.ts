import type { Command } from "../command.ts";
import { events } from "./events.ts";
import { listen } from "./listen.ts";
import { login } from "./login.ts";
import { lookup } from "./lookup.ts";
import { cancelMonitor, createMonitor, listMonitorEvents, listMonitorRuns, listMonitors } from "./monitors.ts";
import { trigger } from "./trigger.ts";
import { verify } from "./verify.ts";

/** All commands, in the order of the help. */
export const commands: readonly Command[] = [
  login,
  lookup,
  verify,
  listMonitors,
  createMonitor,
  cancelMonitor,
  listMonitorRuns,
  listMonitorEvents,
  events,
  listen,
  trigger,
];
