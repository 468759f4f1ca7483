import { webhookUrlPattern } from "../input/patterns.ts";
import { eventPageSchema, monitorPageSchema, monitorSchema, runPageSchema } from "../render/monitor.ts";
import { exampleEvent, exampleIds, exampleMonitor, exampleRun, lastPage } from "./examples.ts";
import { documented, ok } from "./route.ts";

export const webhookUrl = {
  pattern: webhookUrlPattern,
  maxLength: 2048,
  description:
    "Absolute URL that changes are posted to: `https`, or `http` with a test key; a public host of at most 253 characters, no user name, no fragment.",
};

const example = { "A monitor": exampleMonitor };

export const create = documented({
  operationId: "createMonitor",
  tag: "Monitor",
  summary: "Create a monitor",
  description: `Creates a monitor, which runs checks of an entity on a schedule and reports what changed. Its first run starts immediately and sets what later runs are compared with.

Changes are posted to \`webhook_url\`. Without one, read them with \`GET /v1/events\`.`,
  requests: {
    "With a webhook": {
      entity_id: exampleIds.entity,
      checks: ["sam_registration"],
      frequency: "daily",
      webhook_url: "https://example.com/webhooks",
    },
    "Without a webhook": {
      entity_id: exampleIds.entity,
      checks: ["sam_registration", "tin_match"],
      external_id: "V-10042",
    },
  },
  answers: { 201: { description: "The created monitor.", body: monitorSchema, examples: example } },
  errors: ["entity_not_found", "limit_exceeded"],
});

/** The query parameter `entity_id` of the list of monitors. */
export const entityFilter = { description: "Only monitors of this entity. Any other text gives an empty list." };

/** The query parameter `external_id` of the list of monitors. */
export const externalIdFilter = "Only monitors to which you gave this number.";

export const list = documented({
  operationId: "listMonitors",
  tag: "Monitor",
  summary: "List monitors",
  description: "Lists the active monitors of your organization, newest first.",
  answers: ok("A page of monitors.", monitorPageSchema, lastPage({ monitors: [exampleMonitor] })),
});

export const get = documented({
  operationId: "getMonitor",
  tag: "Monitor",
  summary: "Get a monitor",
  description: "Returns a monitor, active or canceled.",
  answers: ok("The monitor.", monitorSchema, example),
});

export const update = documented({
  operationId: "updateMonitor",
  tag: "Monitor",
  summary: "Change a monitor",
  description:
    "Changes the webhook URL, the frequency or your number of the vendor. The monitor still compares with its last results. Retries and replays of earlier events go to the new URL; null ends them.",
  requests: {
    "Another frequency": { frequency: "weekly" },
    "Another webhook": { webhook_url: "https://example.com/other" },
    "No webhook": { webhook_url: null },
    "Your number": { external_id: "V-10042" },
  },
  answers: ok("The changed monitor.", monitorSchema, example),
  errors: ["monitor_canceled"],
});

export const cancel = documented({
  operationId: "cancelMonitor",
  tag: "Monitor",
  summary: "Cancel a monitor",
  description:
    "Cancels a monitor: no further run starts. Its history stays readable, and events in it keep their retries. Canceling it again gives the same answer.",
  answers: ok("The canceled monitor.", monitorSchema, {
    "A canceled monitor": { ...exampleMonitor, status: "canceled", next_run_at: undefined },
  }),
});

export const runs = documented({
  operationId: "listMonitorRuns",
  tag: "Monitor",
  summary: "List the runs of a monitor",
  description:
    "Lists the runs of a monitor that have ended, newest first, also after it was canceled: the proof of each check. We keep each as long as its verification, and the newest one of an active monitor always.",
  answers: ok("A page of runs.", runPageSchema, lastPage({ runs: [exampleRun] })),
});

export const monitorEvents = documented({
  operationId: "listMonitorEvents",
  tag: "Monitor",
  summary: "List the events of a monitor",
  description: "Lists the changes that a monitor detected, newest first, also after it was canceled.",
  answers: ok("A page of events.", eventPageSchema, lastPage({ events: [exampleEvent] })),
});

export const events = documented({
  operationId: "listEvents",
  tag: "Monitor",
  summary: "List or follow events",
  description: `Lists the changes of all your monitors, newest first.

With \`after\` it reads forward instead: oldest first, in the order in which we recorded them, and skips none. \`next_cursor\` is then always present: store it and send it as \`after\` in the next call. Begin with \`after=start\`, the oldest event that we keep, or with \`after=now\`, which returns only new events: the first answer is usually empty, and its \`next_cursor\` is where to go on. A cursor older than what we keep is 400 \`cursor_expired\`: begin again with \`after=start\`.

\`wait\` is how many seconds the call waits for an event if there is none yet. At most 10 such calls of an organization can wait at the same time.`,
  answers: ok("A page of events.", eventPageSchema, {
    ...lastPage({ events: [exampleEvent] }),
    "Read forward: nothing new": { events: [], next_cursor: "WyJoMnNUb0ZrWG1hOTBfbFpxIiwiZm9yd2FyZCIsNDFd" },
  }),
  errors: ["cursor_expired"],
});
