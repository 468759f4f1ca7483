import { checkDefinitions, checkNames } from "@vvs/checks";
import type { Entity } from "@vvs/proto/entity/v1/entity";
import { type Html, html } from "../http/html.ts";
import type { EnvironmentView } from "../ui/environments.ts";
import { formTokenField, type Notice, noticeBox } from "../ui/parts.ts";
import { type FrequencyName, frequencyNames, type MonitorProblems, type TypedMonitor } from "./monitor-form.ts";

export interface CreateMonitorView {
  readonly view: EnvironmentView;
  readonly formToken: string;
  readonly input: TypedMonitor;
  /** The entity in the form; undefined if it does not exist or is unavailable. */
  readonly vendor: Entity | undefined;
  readonly notice?: Notice;
  readonly problems?: MonitorProblems;
}

const TRY_AGAIN = "No monitor was created. Correct the marked fields and try again.";

const frequencyMeanings: Readonly<Record<FrequencyName, string>> = {
  hourly: "every hour",
  daily: "every day",
  weekly: "every 7 days",
  monthly: "every 30 days",
};

export function createMonitorPage(options: CreateMonitorView): Html {
  const { view, problems = {}, notice } = options;
  const refused: Notice | undefined =
    Object.keys(problems).length > 0 ? { kind: "problem", text: TRY_AGAIN } : undefined;
  return html`<p class="path"><a href="${view.path}/monitors">Monitors</a></p>
<h1>Create a monitor</h1>
${noticeBox(notice ?? refused)}
<form method="post" action="${view.path}/monitors" class="card">
  ${formTokenField(options.formToken)}
  ${entityField(options)}
  ${checkFields(options)}
  ${frequencyFields(options)}
  ${urlField(options)}
  <p class="hint">The first run begins immediately. Later runs are compared with it.${view.environment === "sandbox" && " In the sandbox, time runs fast for the first hour of a monitor: “hourly” means every 5 seconds."}</p>
  <button>Create monitor</button>
</form>`;
}

function entityField({ view, input, vendor, problems = {} }: CreateMonitorView): Html {
  return html`<div class="field">
  <label for="entity_id">Entity</label>
  <input id="entity_id" name="entity_id" maxlength="100" required autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="ent_…" value="${input.entity_id}"${described("entity_id", problems.entity_id)}>
  <p class="hint" id="entity_id-hint">${vendor ? html`<strong>${vendor.legalName}</strong>` : html`The ID of the entity. <a href="${view.path}/entities">Search for the entity</a> and select <em>Create a monitor</em> on its page.`}</p>
  ${problems.entity_id && html`<p class="field-problem" id="entity_id-problem">${problems.entity_id}</p>`}
  </div>`;
}

function checkFields({ input, problems = {} }: CreateMonitorView): Html {
  return html`<fieldset${problems.checks && html` aria-describedby="checks-problem"`}>
    <legend>Checks</legend>
    ${checkNames.map((name) => choice({ type: "checkbox", name: "checks", value: name, hint: checkDefinitions[name].question, isPicked: input.checks.includes(name) }))}
    ${problems.checks && html`<p class="field-problem" id="checks-problem">${problems.checks}</p>`}
  </fieldset>`;
}

type MonitorFields = Pick<CreateMonitorView, "view" | "input" | "problems">;

/** Renders the choice of how often the monitor runs. */
export function frequencyFields({ input, problems = {} }: MonitorFields): Html {
  return html`<fieldset${problems.frequency && html` aria-describedby="frequency-problem"`}>
    <legend>Frequency</legend>
    ${frequencyNames.map((name) => choice({ type: "radio", name: "frequency", value: name, hint: frequencyMeanings[name], isPicked: input.frequency === name }))}
    ${problems.frequency && html`<p class="field-problem" id="frequency-problem">${problems.frequency}</p>`}
  </fieldset>`;
}

/** Renders the field for the URL that changes are sent to. */
export function urlField({ view, input, problems = {} }: MonitorFields): Html {
  return html`<div class="field">
  <label for="webhook_url">Webhook URL</label>
  <input class="wide" id="webhook_url" name="webhook_url" type="url" maxlength="2048" autocomplete="off" placeholder="https://…" value="${input.webhook_url}"${described("webhook_url", problems.webhook_url)}>
  <p class="hint" id="webhook_url-hint">Optional. Each change is sent to this URL, signed with your <a href="${view.path}/webhooks">webhook secret</a>. Without a URL, changes appear only here and in <code>GET /v1/events</code>.</p>
  ${problems.webhook_url && html`<p class="field-problem" id="webhook_url-problem">${problems.webhook_url}</p>`}
  </div>`;
}

function described(name: string, problem: string | undefined): Html {
  return html` aria-describedby="${name}-hint${problem && ` ${name}-problem`}"${problem && html` aria-invalid="true"`}`;
}

function choice(options: {
  type: string;
  name: string;
  value: string;
  hint: string | undefined;
  isPicked: boolean;
}): Html {
  const { type, name, value, hint, isPicked } = options;
  return html`<label class="check"><input type="${type}" name="${name}" value="${value}"${isPicked && html` checked`}> <span><code>${value}</code> <span class="hint">${hint}</span></span></label>`;
}
