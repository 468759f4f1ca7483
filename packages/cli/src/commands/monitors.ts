import type { Monitor, MonitorEvent } from "@vendor-verification/client";
import { checksOption, readChecks } from "../checks.ts";
import { type Command, type Context, oneOf, wholeNumber } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";
import { table } from "../output.ts";
import { take } from "../take.ts";

const DEFAULT_LIMIT = "25";
const MAX_LIMIT = 1_000_000;
const frequencies = ["hourly", "daily", "weekly", "monthly"] as const;

/** Option that limits a list. */
export const limitOption = {
  limit: { type: "string", value: "N", does: `Maximum number of lines. Default: ${DEFAULT_LIMIT}.` },
} as const;

/** Reads --limit. Errors: UsageError. */
export function readLimit(text: string = DEFAULT_LIMIT): number {
  return wholeNumber(text, "limit", 1, MAX_LIMIT);
}

export const listMonitors: Command = {
  name: "monitors list",
  summary: "List the active monitors, newest first.",
  options: limitOption,
  help: "With --json one monitor per line.",
  async run({ client, output, signal }, args) {
    const limit = readLimit(args.text("limit"));
    const monitors = await take(client().allMonitors({ limit: Math.min(limit, 100) }, { signal }), limit);
    if (output.json) for (const monitor of monitors) output.result(monitor, () => "");
    else output.result(monitors, () => monitorsText(monitors));
    return exitCodes.ok;
  },
};

export const createMonitor: Command = {
  name: "monitors create",
  summary: "Monitor an entity.",
  operands: ["ENT_ID"],
  options: {
    checks: checksOption,
    frequency: { type: "string", value: "FREQUENCY", does: `${frequencies.join(", ")}. Default: daily.` },
    "webhook-url": { type: "string", value: "URL", does: "Where changes are sent. Without it, read them as events." },
    "external-id": { type: "string", value: "ID", does: "Your own number, returned with each event." },
  },
  help: `
The first run starts immediately. \`lookup\` finds the entity's id.

  vendor-verification monitors create ent_… --checks sam_registration --webhook-url https://acme.example/hooks`,
  async run({ client, output, signal }, args) {
    const body = {
      entity_id: args.operands[0]!,
      checks: readChecks(args.text("checks")),
      frequency: oneOf(args.text("frequency") ?? "daily", "frequency", frequencies),
      webhook_url: args.text("webhook-url"),
      external_id: args.text("external-id"),
    };
    const monitor = await client().createMonitor(body, { signal });
    output.result(monitor, () => monitorsText([monitor]));
    return exitCodes.ok;
  },
};

export const cancelMonitor: Command = {
  name: "monitors cancel",
  summary: "Cancel a monitor. Its history stays readable.",
  operands: ["MON_ID"],
  help: "Canceling a canceled monitor changes nothing and succeeds.",
  async run({ client, output, signal }, args) {
    const monitor = await client().cancelMonitor(args.operands[0]!, { signal });
    output.result(monitor, () => `${monitor.id} is canceled.`);
    return exitCodes.ok;
  },
};

export const listMonitorRuns = listCommand({
  name: "monitors runs",
  summary: "List the runs of a monitor, newest first.",
  one: "run",
  read: ({ client, signal }, id, page) => client().allMonitorRuns(id, page, { signal }),
  text: ({ at, outcome, cause, verification_id }) => [at, outcome, cause, verification_id].join("  "),
});

export const listMonitorEvents = listCommand({
  name: "monitors events",
  summary: "List the changes that a monitor found, newest first.",
  one: "event",
  read: ({ client, signal }, id, page) => client().allMonitorEvents(id, page, { signal }),
  text: eventText,
});

/** Returns a command that lists what belongs to a monitor. */
function listCommand<T extends object>({
  one,
  read,
  text,
  ...command
}: Pick<Command, "name" | "summary"> & {
  /** The name of one item. */
  readonly one: string;
  readonly read: (context: Context, monitorId: string, page: { limit: number }) => AsyncIterable<T>;
  /** Returns an item as a person reads it. */
  readonly text: (item: T) => string;
}): Command {
  return {
    ...command,
    operands: ["MON_ID"],
    options: limitOption,
    help: `With --json one ${one} per line.`,
    async run(context, args) {
      const limit = readLimit(args.text("limit"));
      const items = await take(read(context, args.operands[0]!, { limit: Math.min(limit, 100) }), limit);
      for (const item of items) context.output.result(item, () => text(item));
      if (items.length === 0) context.output.note("There are none.");
      return exitCodes.ok;
    },
  };
}

/** Returns an event in one line for each change. */
export function eventText({ id, monitor_id, changes, detected_at, external_id }: MonitorEvent): string {
  const subject = [detected_at, id, monitor_id, external_id].filter(Boolean).join("  ");
  const lines = changes.map(({ field, previous, current }) => `  ${field}: ${previous || "–"} → ${current || "–"}`);
  return [subject, ...lines].join("\n");
}

function monitorsText(monitors: readonly Monitor[]): string {
  if (monitors.length === 0) return "There are none.";
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
