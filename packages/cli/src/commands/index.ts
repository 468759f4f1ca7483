import type { Command } from "../command.ts";
import { createEntity, getEntity, listEntities } from "./entities.ts";
import { events } from "./events.ts";
import { evidence } from "./evidence.ts";
import { listen } from "./listen.ts";
import { login } from "./login.ts";
import { lookup } from "./lookup.ts";
import {
  cancelMonitor,
  createMonitor,
  getMonitor,
  listMonitorEvents,
  listMonitorRuns,
  listMonitors,
  updateMonitor,
} from "./monitors.ts";
import { providers } from "./providers.ts";
import { checkReceiptFile, getReceipt } from "./receipt.ts";
import { trigger } from "./trigger.ts";
import { verify } from "./verify.ts";

/** All commands, in the order of the help. */
export const commands: readonly Command[] = [
  login,
  lookup,
  verify,
  evidence,
  getReceipt,
  checkReceiptFile,
  getEntity,
  listEntities,
  createEntity,
  listMonitors,
  getMonitor,
  createMonitor,
  updateMonitor,
  cancelMonitor,
  listMonitorRuns,
  listMonitorEvents,
  events,
  listen,
  trigger,
  providers,
];
