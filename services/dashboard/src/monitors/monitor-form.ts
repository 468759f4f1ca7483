import { containsTin } from "@vvs/identifiers";
import { Frequency, type Monitor } from "@vvs/proto/monitor/v1/monitor";
import type { Request, Response } from "express";
import type { EnvironmentView } from "../http/environments.ts";
import { pathId, typedFields } from "../http/form.ts";
import { type Html, html } from "../http/html.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";
import { inputField, option, selectField, VERBATIM } from "../ui/fields.ts";
import { invalid, type Refusal, type RefusalTexts, refusalOf } from "../ui/form-refusal.ts";
import { echoOfVendorNumber, readVendorNumber, vendorNumberField } from "../ui/vendor-number.ts";

/** The frequencies of monitors, by their public names. */
export const frequencies = {
  hourly: Frequency.HOURLY,
  daily: Frequency.DAILY,
  weekly: Frequency.WEEKLY,
  monthly: Frequency.MONTHLY,
} as const;

type FrequencyName = keyof typeof frequencies;

const frequencyNames = Object.keys(frequencies) as FrequencyName[];

/** How often a monitor runs, and where its changes are sent, as typed. */
interface ScheduleInput {
  readonly frequency: string;
  readonly webhook_url: string;
}

/** Returns the public name of a frequency, or its number if this version does not know it yet. */
export function frequencyName(frequency: Frequency): string {
  return frequencyNames.find((name) => frequencies[name] === frequency) ?? `frequency ${frequency}`;
}

/** Checks the input. Returns what to ask of the monitor service, or all problems. That service checks whether the URL may be used. */
export function readSchedule(typed: ScheduleInput & { readonly external_id: string }) {
  const problems: { frequency?: string; webhook_url?: string; external_id?: string } = {};
  const frequency = frequencyNames.find((name) => name === typed.frequency);
  if (!frequency) problems.frequency = "Choose how often the monitor runs.";
  const { problem, externalId } = readVendorNumber(typed.external_id);
  if (problem) problems.external_id = problem;
  if (!frequency || problem) return { problems };
  return { request: { frequency: frequencies[frequency], webhookUrl: typed.webhook_url.trim(), externalId } };
}

/** Returns the URL that a refused form shows again: no TIN, and none that may be a secret pasted by mistake. */
export function echoOfUrl(typed: string): string {
  const url = typed.trim();
  return isPlainUrl(url) && !containsTin(url) ? url : "";
}

const isPlainUrl = (text: string) => /^https?:\/\/[^/?#@]+(?:[/?#]|$)/i.test(text) && URL.canParse(text);

const frequencyMeanings: Readonly<Record<FrequencyName, string>> = {
  hourly: "every hour",
  daily: "every day",
  weekly: "every 7 days",
  monthly: "every 30 days",
};

/** Renders the frequencies as options of a selectField. */
export const frequencyOptions = (picked: string): Html[] =>
  Object.entries(frequencyMeanings).map(([value, meaning]) => option(value, picked, meaning));

/** Renders the fields for how often a monitor runs, and where its changes are sent. */
export function scheduleFields(
  view: EnvironmentView,
  input: ScheduleInput,
  problems: NonNullable<Refusal["problems"]>,
): Html {
  const options = frequencyOptions(input.frequency);
  // Browsers show the first option where none is picked.
  if (!Object.hasOwn(frequencies, input.frequency)) options.unshift(option("", "", "choose"));
  return html`${selectField({ name: "frequency", label: "How often", options, problem: problems.frequency })}
  ${inputField({
    name: "webhook_url",
    label: "Webhook URL",
    attributes: html` class="wide" type="url" maxlength="2048"${VERBATIM} placeholder="https://…"`,
    value: input.webhook_url,
    hint: html`Optional. Changes are sent there, signed with your <a href="${view.path}/webhooks">webhook secret</a>. Without it they appear only here and in the API.`,
    problem: problems.webhook_url,
  })}`;
}

/** How often monitors run in the sandbox. */
export const FAST_CLOCK =
  "In the sandbox, time runs fast for the first hour of a monitor: “every hour” means every 5 seconds.";

const refusals: RefusalTexts = {
  invalid: "Nothing was changed. Correct the marked fields and try again.",
  fields: { webhook_url: "webhook URL", external_id: "vendor number" },
};

/** Creates the handlers that change the frequency, webhook URL and vendor number of an active monitor. */
export function createChangeMonitorHandlers(context: PageContext) {
  const { monitors, readVendors, layout } = context;

  async function sendForm(
    response: Response,
    visit: Visit,
    monitor: Monitor,
    input: ReturnType<typeof inputOf>,
    { status, notice, problems = {} }: Partial<Refusal> = {},
  ): Promise<void> {
    const vendorName = (await readVendors(visit, [monitor]))?.get(monitor.entityId)?.legalName;
    const path = `${visit.view.path}/monitors/${monitor.id}`;
    const parents = [[`/monitors/${monitor.id}`, vendorName ?? "Monitor"]] as const;
    const content = html`<form method="post" action="${path}/change" class="card">
  ${scheduleFields(visit.view, input, problems)}
  ${vendorNumberField({ value: input.external_id, problem: problems.external_id })}
  <p class="hint">Later runs are still compared with the last one. Events that wait for another attempt go to the new URL; without one, they are not sent.</p>
  <p class="choices"><button>Save</button> <a class="button quiet" href="${path}">Go back</a></p>
</form>`;
    layout.sendPage(response, { visit, title: "Change this monitor", parents, status, notice, content });
  }

  return {
    async ask(request, response, visit) {
      const monitor = await findMonitor(context, request, visit);
      if (monitor.status !== "active") return response.redirect(303, `${visit.view.path}/monitors/${monitor.id}`);
      await sendForm(response, visit, monitor, inputOf(monitor));
    },

    // Repeating the form changes nothing, so it needs no token.
    async change(request, response, visit) {
      const monitor = await findMonitor(context, request, visit);
      const typed = typedFields(request, ["frequency", "webhook_url", "external_id"]);
      const isStored = typed.webhook_url.trim() === monitor.webhookUrl;
      const input = {
        ...typed,
        webhook_url: isStored ? monitor.webhookUrl : echoOfUrl(typed.webhook_url),
        external_id: echoOfVendorNumber(typed.external_id),
      };
      const read = readSchedule(typed);
      if (read.problems) return sendForm(response, visit, monitor, input, invalid(read.problems, refusals));
      const { caller } = visit;
      try {
        await monitors.updateMonitor({ caller, monitorId: monitor.id, ...read.request });
        response.redirect(303, `${visit.view.path}/monitors/${monitor.id}?done=changed`);
      } catch (error) {
        await sendForm(response, visit, monitor, input, refusalOf(response, error, refusals));
      }
    },
  } satisfies PageHandlers;
}

/** Returns the monitor of a page. Errors: ProblemError for an invalid id, monitor_not_found. */
export async function findMonitor({ monitors }: PageContext, request: Request, { caller }: Visit): Promise<Monitor> {
  return (await monitors.getMonitor({ caller, monitorId: pathId(request, "monitor_id", "mon") })).monitor!;
}

function inputOf({ frequency, webhookUrl, externalId }: Monitor) {
  return { frequency: frequencyName(frequency), webhook_url: webhookUrl, external_id: externalId };
}
