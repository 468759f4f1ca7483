import { z } from "@vvs/config";
import { type Event, EventSchema, MonitorSchema, RunSchema } from "@vvs/proto/monitor/v1/monitor";
import { renderer } from "./renderer.ts";
import { checkStatus, checkType, id, page, text, time } from "./schemas.ts";

/** How often a monitor runs, in requests and answers. */
export const frequencySchema = z.enum(["hourly", "daily", "weekly", "monthly"]).meta({
  id: "Frequency",
  description: "How often a monitor runs. In the sandbox `hourly` is every 5 s during a monitor’s first hour.",
});

const dataDates = z
  .object({
    registration: time("Of the registration; absent where it is unknown.").optional(),
    exclusions: time("Of the exclusions; absent where they are unknown.").optional(),
  })
  .meta({ id: "DataDates", description: "The dates of the data behind an answer of `sam_registration`." });

export const monitorSchema = z
  .object({
    id: id("mon", "Id of the monitor."),
    entity_id: id("ent", "The monitored entity."),
    checks: z.array(checkType).min(1),
    frequency: frequencySchema,
    webhook_url: text("Absent where events are only read.").optional(),
    external_id: text("Your own number of the vendor; absent where you gave the monitor none.").optional(),
    status: z.enum(["active", "canceled"]),
    created_at: time("When it was created."),
    last_run: z
      .object({
        at: time("When it ended, or when a scheduled check confirmed it last."),
        outcome: checkStatus,
        verification_id: id("ver", "Its verification."),
        data_as_of: dataDates.optional(),
      })
      .optional()
      .describe("The newest run that has ended."),
    next_run_at: time("When the next run, or scheduled check, is due.").optional(),
    stale_since: time(
      "Since when scheduled checks confirm nothing, because our copy of SAM.gov’s exclusions is out of date. Absent where it is not.",
    ).optional(),
    consecutive_errors: z.int().min(0).describe("Number of consecutive runs whose overall result was `error`."),
  })
  .meta({ id: "Monitor", description: "Checks of an entity that run on a schedule." });

export const renderMonitor = renderer(MonitorSchema, monitorSchema);

export const monitorPageSchema = page("Monitor", "active monitors, newest first", { monitors: z.array(monitorSchema) });

const run = z
  .object({
    at: time("When it ended."),
    outcome: checkStatus,
    verification_id: id("ver", "Its verification."),
    cause: z.enum(["first", "schedule", "file", "expiry", "exclusion", "answer"]).meta({
      id: "RunCause",
      description:
        "Why it was made: the monitor was new, the schedule, a loaded file that changed the vendor, the day after the registration’s expiration date, an exclusion’s first day, or another answer of SAM.gov.",
    }),
    confirmed: z
      .object({
        times: z.int().min(1).describe("How many scheduled checks found the same status, reason and details."),
        last_at: time("When the last of these checks was due."),
        data_as_of: dataDates.optional(),
      })
      .optional()
      .describe("Scheduled checks that found the same in our newest data. They made no verification of their own."),
  })
  .meta({ id: "MonitorRun", description: "A run of a monitor that has ended." });

export const renderRun = renderer(RunSchema, run);

export const runPageSchema = page("MonitorRun", "runs", { runs: z.array(run) });

export const changeSchema = z
  .object({
    field: text("`<check>.<name>`, such as `sam_registration.registration_status`."),
    previous: text("Empty where there was no value."),
    current: text("Empty where there is no value."),
    detected_at: time("When the change was detected."),
  })
  .meta({
    id: "Change",
    description:
      "A watched field that changed. Both values of `tin_match.tin` are equal where the new TIN ends in the same four digits.",
  });

export const eventSchema = z
  .object({
    id: id("evt", "Id of the event, also the `webhook-id` of its delivery."),
    event: z.literal("monitor.change_detected"),
    monitor_id: id("mon", "The monitor."),
    entity_id: id("ent", "The monitored entity."),
    external_id: text(
      "Your number of the monitor, or else of the entity, as it was then; absent where there was none.",
    ).optional(),
    changes: z.array(changeSchema).min(1),
    verification_id: id("ver", "The verification that showed the changes."),
    detected_at: time("When the changes were detected."),
  })
  .meta({
    id: "MonitorEvent",
    description: "Changes that one run of a monitor detected. Has the fields of its webhook, except `delivered_at`.",
  });

const renderEventFields = renderer(EventSchema, eventSchema, ["event", "changes"]);

/** The public Event: its webhook without delivered_at. "No value" is an empty text here (and null in the webhook). */
export function renderEvent(message: Event): z.infer<typeof eventSchema> {
  const fields = renderEventFields(message);
  const { detected_at } = fields;
  return {
    ...fields,
    event: "monitor.change_detected",
    changes: message.changes.map(({ field, previous = "", current = "" }) => ({
      field,
      previous,
      current,
      detected_at,
    })),
  };
}

export const eventPageSchema = page("Event", "events", { events: z.array(eventSchema) });
