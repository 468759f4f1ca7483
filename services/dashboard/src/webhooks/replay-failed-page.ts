import { type Html, html } from "../http/html.ts";
import type { EnvironmentView } from "../ui/environments.ts";
import { facts, formTokenField } from "../ui/parts.ts";

/** The choice of failed deliveries to replay, as the form holds it. */
export interface ReplayChoice {
  readonly since: string;
  readonly monitor_id: string;
  readonly url: string;
}

export type ReplayProblems = Readonly<Partial<Record<keyof ReplayChoice, string>>>;

/** Larger counts are not exact. */
const MOST_COUNTED = 100_000;

export interface ReplayFailedView {
  readonly view: EnvironmentView;
  readonly choice: ReplayChoice;
  readonly problems: ReplayProblems;
  /** The number of matching deliveries; undefined before they were counted. */
  readonly count: number | undefined;
  readonly replayId: string;
  readonly formToken: string;
}

export function replayFailedPage(options: ReplayFailedView): Html {
  const { view, count } = options;
  return html`<p class="path"><a href="${view.path}/webhooks">Webhooks</a> / <a href="${view.path}/webhooks/deliveries">Deliveries</a></p>
<h1>Replay failed deliveries</h1>
<p>A delivery has failed if no attempt within 24 hours was answered with 2xx. A replay sends the same event with the same ID immediately, and retries it for another 24 hours. Test events are not replayed.</p>
${count !== undefined && confirmation(options, count)}
${choiceForm(options)}`;
}

function confirmation({ view, choice, replayId, formToken }: ReplayFailedView, count: number): Html {
  const deliveries = `${view.path}/webhooks/deliveries`;
  if (count === 0)
    return html`<p class="notice done" role="status">No failed ${view.name.toLowerCase()} deliveries match. There is nothing to replay.</p>`;
  const number = `${count.toLocaleString("en-US")}${count >= MOST_COUNTED ? " or more" : ""}`;
  const name = count === 1 ? "1 failed delivery" : `${number} failed deliveries`;
  return html`<section class="card" aria-labelledby="confirm">
<h2 id="confirm">Replay ${name}?</h2>
${facts([
  ["Events since", `${choice.since.replace("T", " ")} UTC`],
  ["Monitor ID", choice.monitor_id && html`<code>${choice.monitor_id}</code>`],
  ["Webhook URL", choice.url && html`<code class="url">${choice.url}</code>`],
])}
<p>Each endpoint gets the events as fast as it answers. An endpoint that still fails gets one event at a time.</p>
<form method="post" action="${view.path}/webhooks/replay" class="choices">
  ${formTokenField(formToken)}
  <input type="hidden" name="replay_id" value="${replayId}">
  ${Object.entries(choice).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
  <button>Replay ${name}</button>
  <a class="button quiet" href="${deliveries}">Cancel</a>
</form>
</section>`;
}

function choiceForm({ view, choice, problems, count }: ReplayFailedView): Html {
  return html`<form method="get" action="${view.path}/webhooks/replay" class="card filters" aria-labelledby="which">
<h2 id="which">${count === undefined ? "Choose deliveries" : "Change the choice"}</h2>
  <div class="columns">
  ${textField({ name: "since", label: "Events since (UTC)", type: "datetime-local", value: choice.since, problem: problems.since, isRequired: true })}
  ${textField({ name: "monitor_id", label: "Monitor ID (optional)", placeholder: "mon_…", value: choice.monitor_id, problem: problems.monitor_id })}
  ${textField({ name: "url", label: "Webhook URL (optional)", placeholder: "https://…", value: choice.url, problem: problems.url })}
  </div>
  <button${count !== undefined && html` class="quiet"`}>${count === undefined ? "Count deliveries" : "Count again"}</button>
</form>`;
}

function textField(options: {
  name: keyof ReplayChoice;
  label: string;
  value: string;
  type?: string;
  placeholder?: string;
  problem?: string;
  isRequired?: boolean;
}): Html {
  const { name, label, value, type = "text", placeholder, problem, isRequired } = options;
  return html`<div class="field">
    <label for="${name}">${label}</label>
    <input type="${type}" id="${name}" name="${name}" maxlength="2048" autocomplete="off" autocapitalize="off" spellcheck="false"${placeholder && html` placeholder="${placeholder}"`}${isRequired && html` required`} value="${value}"${problem && html` aria-invalid="true" aria-describedby="${name}-problem"`}>
    ${problem && html`<p class="field-problem" id="${name}-problem">${problem}</p>`}
  </div>`;
}
