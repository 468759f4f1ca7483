import type { Refusal } from "../http/form-refusal.ts";
import { type Html, html } from "../http/html.ts";
import type { Visit } from "../http/session.ts";
import { asCurl } from "../ui/curl.ts";
import { checksField, choiceGroup, inputField, VERBATIM } from "../ui/fields.ts";
import { formTokenField, noticeBox } from "../ui/parts.ts";
import { vendorNumberField } from "../ui/vendor-number.ts";
import type { FrequencyName, MonitorInput } from "./monitor-form.ts";

interface MonitorFormView extends Partial<Refusal> {
  readonly visit: Visit;
  readonly input: MonitorInput;
  /** Undefined if it does not exist or is unavailable. */
  readonly vendorName: string | undefined;
}

export const frequencyMeanings: Readonly<Record<FrequencyName, string>> = {
  hourly: "every hour",
  daily: "every day",
  weekly: "every 7 days",
  monthly: "every 30 days",
};

/** How often monitors run in the sandbox. */
export const FAST_CLOCK =
  "In the sandbox, time runs fast for the first hour of a monitor: “every hour” means every 5 seconds.";

export function createMonitorPage(
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
${asCurl(
  { path: "/v1/monitors", body: createBody(input) },
  { baseUrl: options.apiBaseUrl, operation: "createMonitor", id: "monitor-curl", label: "Create a monitor" },
)}`;
}

/** The body of the same request in the API. */
function createBody({ entity_id, checks, frequency, webhook_url, external_id }: MonitorInput): object {
  const optional = Object.entries({ webhook_url, external_id }).filter(([, value]) => value !== "");
  return { entity_id: entity_id || "ent_…", checks, frequency, ...Object.fromEntries(optional) };
}

/** The page to change a monitor's frequency, webhook URL and vendor number. Its checks and vendor can't change. */
export function changeMonitorPage(options: MonitorFormView & { readonly monitorId: string }): Html {
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
