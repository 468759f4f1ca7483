import { setTimeout as pause } from "node:timers/promises";
import { type Client, type MonitorEvent, TimeoutError } from "@vendor-verification/client";
import type { Command } from "../command.ts";
import { exitCodes, UsageError } from "../exit-codes.ts";
import { idempotencyOption } from "../idempotency.ts";
import { environmentOf } from "./login.ts";
import { eventsText } from "./monitors.ts";

const POLL_MS = 1_000;
/** A run every 5 seconds; the second one finds the first change. */
const LONGEST_WAIT_MS = 60_000;
const CHANGING_UEI = "SANDBXCHNGE1";

export const trigger: Command = {
  name: "trigger",
  summary: "Make a change happen in the sandbox within seconds.",
  options: idempotencyOption,
  help: `
Creates a monitor on the sandbox vendor ${CHANGING_UEI}, which changes at every run, waits for its first event, prints it
and cancels the monitor. Needs a test key. \`listen\` and \`events --follow\` receive the event too.`,
  async run({ client, settings, output, signal }, args) {
    if (environmentOf(settings().apiKey) !== "sandbox") throw new UsageError("trigger needs a test key (svc_test_…).");
    const caller = client();
    const found = await caller.lookup({ identifiers: { uei: CHANGING_UEI } }, { signal });
    if ("candidates" in found) throw new Error(`${CHANGING_UEI} is ambiguous`);
    const body = { entity_id: found.id, checks: ["sam_registration" as const], frequency: "hourly" as const };
    const monitor = await caller.createMonitor(body, { signal, idempotencyKey: args.text("idempotency-key") });
    output.note(`Created ${monitor.id}. Its first change takes a few seconds.`);
    try {
      const event = await firstEvent(caller, monitor.id, signal);
      output.result(event, () => eventsText([event]));
    } finally {
      // Also after Ctrl-C, so without the signal.
      await caller.cancelMonitor(monitor.id);
    }
    output.note(`Canceled ${monitor.id}.`);
    return exitCodes.ok;
  },
};

async function firstEvent(client: Client, monitorId: string, signal: AbortSignal): Promise<MonitorEvent> {
  for (let waitedMs = 0; waitedMs < LONGEST_WAIT_MS; waitedMs += POLL_MS) {
    const [event] = (await client.listMonitorEvents(monitorId, { limit: 1 }, { signal })).events;
    if (event) return event;
    await pause(POLL_MS, undefined, { signal });
  }
  throw new TimeoutError(`No change within ${LONGEST_WAIT_MS / 1_000} s.`);
}
