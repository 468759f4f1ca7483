import type { Monitor, MonitorEvent } from "@vendor-verification/client";
import { checksOption, readChecks } from "../checks.ts";
import { type Command, oneOf } from "../command.ts";
import { UsageError } from "../exit-codes.ts";
import { idempotencyOption } from "../idempotency.ts";
import { limitOption, printList } from "../lists.ts";
import { table } from "../output.ts";
import { oneCall } from "./one-call.ts";

export const frequencies = ["hourly", "daily", "weekly", "monthly"] as const;
const DEFAULT_FREQUENCY = "daily";

export const listMonitors: Command = {
  name: "monitors list",
  summary: "List the active monitors, newest first.",
  options: {
    ...limitOption,
    entity: { value: "ENT_ID", does: "Only those of this entity." },
    "external-id": { value: "ID", does: "Only those with this number of yours." },
  },
  help: "With --json one monitor per line.",
  run: ({ client, output, signal }, args) => {
    const query = { entity_id: args.text("entity"), external_id: args.text("external-id") };
    return printList(output, args, {
      read: (page) => client().allMonitors({ ...page, ...query }, { signal }),
      text: monitorsText,
    });
  },
};

export const getMonitor = oneCall({
  name: "monitors get",
  summary: "Show a monitor of any status.",
  operands: ["MON_ID"],
  help: "With --json also when it runs next.",
  call: (client, { operands }, options) => client.getMonitor(operands[0]!, options),
  text: (monitor) => monitorsText([monitor]),
});

export const createMonitor = oneCall({
  name: "monitors create",
  summary: "Monitor an entity.",
  operands: ["ENT_ID"],
  options: {
    checks: checksOption,
    frequency: { value: "FREQUENCY", does: `${frequencies.join(", ")}. Default: ${DEFAULT_FREQUENCY}.` },
    "webhook-url": { value: "URL", does: "Where changes are sent. Without it, read them as events." },
    "external-id": { value: "ID", does: "Your own number, returned with each event." },
    ...idempotencyOption,
  },
  help: `
The first run starts immediately. \`lookup\` finds the entity's id.

  vendor-verification monitors create ent_… --checks sam_registration --webhook-url https://acme.example/hooks`,
  call: (client, args, options) => {
    const body = {
      entity_id: args.operands[0]!,
      checks: readChecks(args.text("checks")),
      frequency: oneOf(args.text("frequency") ?? DEFAULT_FREQUENCY, "frequency", frequencies),
      webhook_url: args.text("webhook-url"),
      external_id: args.text("external-id"),
    };
    return client.createMonitor(body, options);
  },
  text: (monitor) => monitorsText([monitor]),
});

export const updateMonitor = oneCall({
  name: "monitors update",
  summary: "Change a monitor. Later runs are still compared with earlier ones.",
  operands: ["MON_ID"],
  options: {
    frequency: { value: "FREQUENCY", does: `${frequencies.join(", ")}.` },
    "webhook-url": { value: "URL", does: 'Where changes are sent. "" removes it.' },
    "external-id": { value: "ID", does: 'Your own number. "" removes it.' },
  },
  help: `
Only what is given changes. The checks of a monitor cannot be changed.

  vendor-verification monitors update mon_… --frequency weekly --webhook-url ""`,
  call: (client, args, options) => {
    const frequency = args.text("frequency");
    const body = {
      frequency: frequency === undefined ? undefined : oneOf(frequency, "frequency", frequencies),
      webhook_url: emptyAsNull(args.text("webhook-url")),
      external_id: emptyAsNull(args.text("external-id")),
    };
    if (Object.values(body).every((value) => value === undefined)) {
      throw new UsageError("Give --frequency, --webhook-url or --external-id.");
    }
    return client.updateMonitor(args.operands[0]!, body, options);
  },
  text: (monitor) => monitorsText([monitor]),
});

export const cancelMonitor = oneCall({
  name: "monitors cancel",
  summary: "Cancel a monitor. Its history stays readable.",
  operands: ["MON_ID"],
  help: "Canceling a canceled monitor changes nothing and succeeds.",
  call: (client, { operands }, options) => client.cancelMonitor(operands[0]!, options),
  text: ({ id }) => `${id} is canceled.`,
});

export const listMonitorRuns: Command = {
  name: "monitors runs",
  summary: "List the runs of a monitor, newest first.",
  operands: ["MON_ID"],
  options: limitOption,
  help: "With --json one run per line.",
  run: ({ client, output, signal }, args) =>
    printList(output, args, {
      read: (page) => client().allMonitorRuns(args.operands[0]!, page, { signal }),
      text: (runs) =>
        table(
          ["Ended", "Result", "Cause", "Verification"],
          runs.map(({ at, outcome, cause, verification_id }) => [at, outcome, cause, verification_id]),
        ),
    }),
};

export const listMonitorEvents: Command = {
  name: "monitors events",
  summary: "List the changes that a monitor found, newest first.",
  operands: ["MON_ID"],
  options: limitOption,
  help: "With --json one event per line.",
  run: ({ client, output, signal }, args) =>
    printList(output, args, {
      read: (page) => client().allMonitorEvents(args.operands[0]!, page, { signal }),
      text: eventsText,
    }),
};

/** Returns events with a line for each change. */
export function eventsText(events: readonly MonitorEvent[]): string {
  const lines = events.flatMap(({ id, monitor_id, changes, detected_at, external_id }) => [
    [detected_at, id, monitor_id, external_id].filter(Boolean).join("  "),
    ...changes.map(({ field, previous, current }) => `  ${field}: ${previous || "–"} → ${current || "–"}`),
  ]);
  return lines.join("\n");
}

function monitorsText(monitors: readonly Monitor[]): string {
  const rows = monitors.map(({ id, entity_id, checks, frequency, status, last_run, webhook_url = "" }) => [
    id,
    entity_id,
    checks.join(","),
    frequency,
    status,
    last_run?.outcome ?? "not yet run",
    webhook_url,
  ]);
  return table(["Monitor", "Entity", "Checks", "Frequency", "Status", "Last run", "Webhook"], rows);
}

function emptyAsNull(text: string | undefined): string | null | undefined {
  return text === "" ? null : text;
}
