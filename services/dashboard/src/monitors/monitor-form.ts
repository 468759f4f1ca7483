import { checkNames, toCheckType } from "@vvs/checks";
import { ServiceError } from "@vvs/errors";
import { containsTin } from "@vvs/identifiers";
import { isId } from "@vvs/ids";
import { Frequency, type Monitor } from "@vvs/proto/monitor/v1/monitor";
import type { Request, Response } from "express";
import { field, fieldValues, pathId, queryValue } from "../http/form.ts";
import { formIdempotency } from "../http/form-token.ts";
import { type Html, html } from "../http/html.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import { liveTinMatchHint } from "../page/live-tin-match.ts";
import type { PageContext } from "../page/page-context.ts";
import { asCurl } from "../ui/curl.ts";
import { checksField, choiceGroup, inputField, option, VERBATIM } from "../ui/fields.ts";
import { idProblem } from "../ui/filter.ts";
import { invalid, type Refusal, type RefusalTexts, refusalOf } from "../ui/form-refusal.ts";
import { checkName, formTokenField, noticeBox } from "../ui/parts.ts";
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

/** The input of the form that creates a monitor. */
interface MonitorInput {
  readonly entity_id: string;
  readonly checks: readonly string[];
  readonly frequency: string;
  readonly webhook_url: string;
  readonly external_id: string;
}

export const emptyMonitor: MonitorInput = {
  entity_id: "",
  checks: ["sam_registration"],
  frequency: "daily",
  webhook_url: "",
  external_id: "",
};

/** Returns the public name of a frequency, or its number if this version does not know it yet. */
export function frequencyName(frequency: Frequency): string {
  return frequencyNames.find((name) => frequencies[name] === frequency) ?? `frequency ${frequency}`;
}

/** Checks the input. Returns the request for the monitor service, or all problems. That service checks whether the URL may be used. */
export function readMonitor(typed: MonitorInput) {
  const problems: { -readonly [F in keyof MonitorInput]?: string } = {};
  const entityId = typed.entity_id.trim();
  if (!isId("ent", entityId)) problems.entity_id = idProblem("ent");
  const checks = checkNames.filter((name) => typed.checks.includes(name)).map(toCheckType);
  if (checks.length === 0) problems.checks = "Choose at least one check.";
  const frequency = frequencyNames.find((name) => name === typed.frequency);
  if (!frequency) problems.frequency = "Choose how often the monitor runs.";
  const webhookUrl = typed.webhook_url.trim();
  const number = readVendorNumber(typed.external_id);
  if (number.problem) problems.external_id = number.problem;
  if (Object.keys(problems).length > 0 || !frequency) return { problems };
  return {
    request: { entityId, checks, frequency: frequencies[frequency], webhookUrl, externalId: number.externalId },
  };
}

/**
 * Returns what a refused form shows again: no TIN, and no invalid id or URL, which may be a secret that was pasted by
 * mistake.
 */
export function echoOfMonitor(typed: MonitorInput): MonitorInput {
  const [entityId, url] = [typed.entity_id.trim(), typed.webhook_url.trim()];
  return {
    ...typed,
    entity_id: isId("ent", entityId) ? entityId : "",
    webhook_url: isPlainUrl(url) && !containsTin(url) ? url : "",
    external_id: echoOfVendorNumber(typed.external_id),
  };
}

const isPlainUrl = (text: string) => /^https?:\/\/[^/?#@]+(?:[/?#]|$)/i.test(text) && URL.canParse(text);

interface MonitorFormView extends Partial<Refusal> {
  readonly visit: Visit;
  readonly input: MonitorInput;
  /** Undefined if it does not exist or is unavailable. */
  readonly vendorName: string | undefined;
}

const frequencyMeanings: Readonly<Record<FrequencyName, string>> = {
  hourly: "every hour",
  daily: "every day",
  weekly: "every 7 days",
  monthly: "every 30 days",
};

/** Renders the frequencies as options of a selectField. */
export const frequencyOptions = (picked: string): Html[] =>
  Object.entries(frequencyMeanings).map(([value, meaning]) => option(value, picked, meaning));

/** How often monitors run in the sandbox. */
export const FAST_CLOCK =
  "In the sandbox, time runs fast for the first hour of a monitor: “every hour” means every 5 seconds.";

function createMonitorPage(
  options: MonitorFormView & {
    readonly formToken: string;
    readonly tinHint: Html | undefined;
    /** The API as its clients see it. */
    readonly apiBaseUrl: URL;
  },
): Html {
  const { visit, input, vendorName, problems = {} } = options;
  const { path, environment } = visit.view;
  const search = html`The ID of the vendor. <a href="${path}/vendors/search">Find the vendor</a> and select <em>Monitor</em> on its page.`;
  return html`<p class="path"><a href="${path}/monitors">Monitors</a></p>
<h1>Create a monitor</h1>
${noticeBox(options.notice)}
<form method="post" action="${path}/monitors" class="card">
  ${formTokenField(options.formToken)}
  ${inputField({
    name: "entity_id",
    label: "Vendor ID",
    attributes: html` maxlength="100" required${VERBATIM} placeholder="ent_…"`,
    value: input.entity_id,
    hint: vendorName ? html`<strong>${vendorName}</strong>` : search,
    problem: problems.entity_id,
  })}
  ${checksField(input.checks, options.tinHint, problems.checks)}
  ${scheduleFields(options)}
  <p class="hint">The first run begins immediately. Later runs are compared with it.${environment === "sandbox" && ` ${FAST_CLOCK}`}</p>
  <button>Create monitor</button>
</form>
${asCurl(options.apiBaseUrl, "createMonitor", "Create a monitor", { path: "/v1/monitors", body: createBody(input) })}`;
}

/** The body of the same request in the API. */
function createBody({ entity_id, checks, frequency, webhook_url, external_id }: MonitorInput): object {
  const optional = Object.entries({ webhook_url, external_id }).filter(([, value]) => value !== "");
  return { entity_id: entity_id || "ent_…", checks, frequency, ...Object.fromEntries(optional) };
}

/** The page to change a monitor's frequency, webhook URL and vendor number. Its checks and vendor can't change. */
function changeMonitorPage(options: MonitorFormView & { readonly monitorId: string }): Html {
  const path = `${options.visit.view.path}/monitors/${options.monitorId}`;
  return html`<p class="path"><a href="${path}">${options.vendorName ?? "Monitor"}</a></p>
<h1>Change this monitor</h1>
${noticeBox(options.notice)}
<form method="post" action="${path}/change" class="card">
  ${scheduleFields(options)}
  <p class="hint">Later runs are still compared with the last one. Events that wait for another attempt go to the new URL; without one, they are not sent.</p>
  <p class="choices"><button>Save</button> <a class="button quiet" href="${path}">Go back</a></p>
</form>`;
}

/** Renders what can be changed later: how often the monitor runs, where its changes are sent, and the vendor's number. */
function scheduleFields({ visit: { view }, input, problems = {} }: MonitorFormView): Html {
  const choices = Object.entries(frequencyMeanings).map(([value, meaning]) => ({ value, label: meaning }));
  return html`${choiceGroup({ type: "radio", name: "frequency", legend: "Frequency", choices, picked: [input.frequency], problem: problems.frequency })}
  ${inputField({
    name: "webhook_url",
    label: "Webhook URL",
    attributes: html` class="wide" type="url" maxlength="2048" autocomplete="off" placeholder="https://…"`,
    value: input.webhook_url,
    hint: html`Optional. Each change is sent to this URL, signed with your <a href="${view.path}/webhooks">webhook secret</a>. Without a URL, changes appear only here and in <code>GET /v1/events</code>.`,
    problem: problems.webhook_url,
  })}
  ${vendorNumberField({ value: input.external_id, problem: problems.external_id })}`;
}

const createRefusals: RefusalTexts = {
  sentBefore:
    "This form was already sent, so no other monitor was created. Find the first one in the list of monitors.",
  unavailable:
    "The monitor may not have been created, because a service is temporarily unavailable. Check the list of monitors before you try again.",
  invalid: "No monitor was created. Correct the marked fields and try again.",
  codes: ["limit_exceeded", "forbidden"],
  fields: { webhook_url: "webhook URL", external_id: "vendor number" },
};

export function createCreateMonitorHandlers(context: PageContext) {
  const { monitors, organization, readVendors, layout, formTokens, apiBaseUrl } = context;

  async function sendForm(
    request: Request,
    response: Response,
    visit: Visit,
    shown: Partial<Refusal> & { input: MonitorInput },
  ): Promise<void> {
    const { entity_id: entityId } = shown.input;
    const [vendors, tinHint] = await Promise.all([
      readVendors(visit, entityId ? [{ entityId }] : []),
      liveTinMatchHint(context, visit),
    ]);
    const vendorName = vendors?.get(entityId)?.legalName;
    const formToken = formTokens.issue(request, response);
    const content = createMonitorPage({ ...shown, visit, vendorName, tinHint, formToken, apiBaseUrl });
    const { status } = shown;
    layout.sendPage(response, { visit, section: "monitors", title: "Create a monitor", status, content });
  }

  return {
    async ask(request, response, visit) {
      const input = echoOfMonitor({ ...emptyMonitor, entity_id: queryValue(request, "entity_id") });
      await sendForm(request, response, visit, { input });
    },

    async create(request, response, visit) {
      const typed = monitorInput(request);
      const input = echoOfMonitor(typed);
      const read = readMonitor(typed);
      if (read.problems)
        return sendForm(request, response, visit, { ...invalid(read.problems, createRefusals), input });
      const { caller } = visit;
      try {
        const { monitor } = await formTokens.once(request, response, async () => {
          const { activeMonitors: activeLimit } = await organization.getOrganization({ caller });
          const idempotency = formIdempotency(visit, "monitors", request);
          return monitors.createMonitor({ ...read.request, caller, activeLimit, idempotency });
        });
        response.redirect(303, `${visit.view.path}/monitors/${monitor!.id}?done=created`);
      } catch (error) {
        await sendForm(request, response, visit, { ...createRefusal(error), input });
      }
    },
  } satisfies PageHandlers;
}

function monitorInput(request: Request): MonitorInput {
  return {
    entity_id: field(request, "entity_id"),
    checks: fieldValues(request, "checks"),
    frequency: field(request, "frequency"),
    webhook_url: field(request, "webhook_url"),
    external_id: field(request, "external_id"),
  };
}

function createRefusal(error: unknown): Refusal {
  if (!(error instanceof ServiceError) || error.code !== "entity_not_found") return refusalOf(error, createRefusals);
  const problems = { entity_id: "This vendor does not exist in this environment." };
  return { ...invalid(problems, createRefusals), status: 404 };
}

const changeRefusals: RefusalTexts = {
  invalid: "Nothing was changed. Correct the marked fields and try again.",
  codes: ["monitor_canceled"],
  fields: { webhook_url: "webhook URL", external_id: "vendor number" },
};

/** Creates the handlers that change the frequency, webhook URL and vendor number of an active monitor. */
export function createChangeMonitorHandlers({ monitors, readVendors, layout }: PageContext) {
  async function find(request: Request, { caller }: Visit): Promise<Monitor> {
    return (await monitors.getMonitor({ caller, monitorId: pathId(request, "monitor_id", "mon") })).monitor!;
  }

  async function sendForm(
    response: Response,
    visit: Visit,
    monitor: Monitor,
    shown: Partial<Refusal> & { input: MonitorInput },
  ): Promise<void> {
    const vendorName = (await readVendors(visit, [monitor]))?.get(monitor.entityId)?.legalName;
    const content = changeMonitorPage({ ...shown, visit, monitorId: monitor.id, vendorName });
    const { status } = shown;
    layout.sendPage(response, { visit, section: "monitors", title: "Change a monitor", status, content });
  }

  return {
    async ask(request, response, visit) {
      const monitor = await find(request, visit);
      if (monitor.status !== "active") return response.redirect(303, `${visit.view.path}/monitors/${monitor.id}`);
      await sendForm(response, visit, monitor, { input: inputOf(monitor) });
    },

    // Repeating the form changes nothing, so it needs no token.
    async change(request, response, visit) {
      const monitor = await find(request, visit);
      const typed = {
        ...inputOf(monitor),
        frequency: field(request, "frequency"),
        webhook_url: field(request, "webhook_url"),
        external_id: field(request, "external_id"),
      };
      const { webhookUrl: stored } = monitor;
      const input = { ...echoOfMonitor(typed), ...(typed.webhook_url.trim() === stored && { webhook_url: stored }) };
      const read = readMonitor(typed);
      if (read.problems)
        return sendForm(response, visit, monitor, { ...invalid(read.problems, changeRefusals), input });
      const { frequency, webhookUrl, externalId } = read.request;
      const { caller } = visit;
      try {
        await monitors.updateMonitor({ caller, monitorId: monitor.id, frequency, webhookUrl, externalId });
        response.redirect(303, `${visit.view.path}/monitors/${monitor.id}?done=changed`);
      } catch (error) {
        await sendForm(response, visit, monitor, { ...refusalOf(error, changeRefusals), input });
      }
    },
  } satisfies PageHandlers;
}

function inputOf({ entityId, checks, frequency, webhookUrl, externalId }: Monitor): MonitorInput {
  return {
    entity_id: entityId,
    checks: checks.map(checkName),
    frequency: frequencyName(frequency),
    webhook_url: webhookUrl,
    external_id: externalId,
  };
}
