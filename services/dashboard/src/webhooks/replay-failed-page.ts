import { type Html, html } from "../http/html.ts";
import type { Visit } from "../http/session.ts";
import { inputField } from "../ui/fields.ts";
import { facts, formTokenField } from "../ui/parts.ts";
import { MONITOR_ID_INPUT, TIME_INPUT, WEBHOOK_URL_INPUT } from "./deliveries-page.ts";
import type { ReplayChoice } from "./delivery-filter.ts";

/** Larger counts are not exact. */
const MOST_COUNTED = 100_000;

interface ReplayFailedView {
  readonly visit: Visit;
  readonly choice: ReplayChoice["filter"];
  readonly problems: ReplayChoice["problems"];
  /** The number of matching deliveries; undefined before they were counted. */
  readonly count: number | undefined;
  readonly replayId: string;
  readonly formToken: string;
}

export function replayFailedPage(options: ReplayFailedView): Html {
  const { count } = options;
  const { view } = options.visit;
  return html`<p class="path"><a href="${view.path}/webhooks">Webhooks</a> › <a href="${view.path}/webhooks/deliveries">Deliveries</a></p>
<h1>Replay failed deliveries</h1>
<p>A delivery has failed if no attempt within 24 hours was answered with 2xx. A replay sends the same event with the same ID immediately, and retries it for another 24 hours. Test events are not replayed.</p>
${count !== undefined && confirmation(options, count)}
${choiceForm(options)}`;
}

function confirmation({ visit: { view }, choice, replayId, formToken }: ReplayFailedView, count: number): Html {
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

function choiceForm({ visit: { view }, choice, problems, count }: ReplayFailedView): Html {
  const required = html`${TIME_INPUT} required`;
  const textField = (name: keyof typeof choice, label: string, attributes: Html) =>
    inputField({ name, label, attributes, value: choice[name], problem: problems[name] });
  return html`<section class="card" aria-labelledby="which">
<h2 id="which">${count === undefined ? "Choose deliveries" : "Change the choice"}</h2>
<form method="get" action="${view.path}/webhooks/replay">
  <div class="columns">
  ${textField("since", "Events since (UTC)", required)}
  ${textField("monitor_id", "Monitor ID (optional)", MONITOR_ID_INPUT)}
  ${textField("url", "Webhook URL (optional)", WEBHOOK_URL_INPUT)}
  </div>
  <button${count !== undefined && html` class="quiet"`}>${count === undefined ? "Count deliveries" : "Count again"}</button>
</form>
</section>`;
}
