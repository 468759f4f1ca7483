import { randomBytes } from "node:crypto";
import type { EnvironmentView } from "../http/environments.ts";
import { field, pathWithQuery } from "../http/form.ts";
import { FormUsedError } from "../http/form-token.ts";
import { type Html, html } from "../http/html.ts";
import { ProblemError } from "../http/problem.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";
import { idField, type ListFilter, localTime, readFilter, timeField, utcTime } from "../ui/filter.ts";
import { card, facts, formTokenField } from "../ui/parts.ts";
import { numberText } from "../ui/vocabulary.ts";
import { ofDeliveries, urlField } from "./delivery-list.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const REPLAY_ID = /^[\w-]{16,100}$/;

/** The fields that choose which failed deliveries to replay. */
const fields = { since: timeField("Events since (UTC)"), monitor_id: idField("mon"), url: urlField };

type ReplayChoice = ListFilter<keyof typeof fields>;

export function createReplayFailedHandlers({ deliveries, layout }: PageContext) {
  return {
    async ask(request, response, visit) {
      const { filter: choice, problems, isRefused } = readFilter(request.query, fields);
      const isChosen = choice.since !== "" && !isRefused;
      const counted = isChosen
        ? await deliveries.countFailed({ caller: visit.caller, filter: requestOf(choice) })
        : undefined;
      const count = counted && Number(counted.count);
      const since = choice.since || localTime(new Date(visit.now.getTime() - DAY_MS));
      const content = html`<p>A delivery has failed if no attempt within 24 hours was answered with 2xx. A replay sends the same event with the same ID immediately, and retries it for another 24 hours. Test events are not replayed.</p>
${count !== undefined && confirmation(visit, choice, count)}
${choiceForm(visit.view, { ...choice, since }, problems, count !== undefined)}`;
      const status = isRefused ? 400 : 200;
      layout.sendPage(response, { visit, title: "Replay failed deliveries", parents: ofDeliveries, status, content });
    },

    async run(request, response, visit) {
      const { filter: choice, isRefused } = readFilter(request.body ?? {}, fields);
      const replayId = field(request, "replay_id");
      // Only a form that was tampered with has such problems.
      if (isRefused || choice.since === "" || !REPLAY_ID.test(replayId)) throw new ProblemError("malformed");
      const path = `${visit.view.path}/webhooks/deliveries`;
      try {
        const { count } = await visit.forms.once(() =>
          deliveries.replayFailed({ caller: visit.caller, filter: requestOf(choice), replayId }),
        );
        const { since: from, monitor_id, url } = choice;
        response.redirect(303, pathWithQuery(path, { from, monitor_id, url, begun: String(count) }));
      } catch (error) {
        if (!(error instanceof FormUsedError)) throw error;
        response.redirect(303, path);
      }
    },
  } satisfies PageHandlers;
}

function requestOf({ since, monitor_id, url }: ReplayChoice["filter"]) {
  return { since: utcTime(since), monitorId: monitor_id, webhookUrl: url };
}

/** Larger counts are not exact. */
const MOST_COUNTED = 100_000;

function confirmation(visit: Visit, choice: ReplayChoice["filter"], count: number): Html {
  const { view } = visit;
  const deliveries = `${view.path}/webhooks/deliveries`;
  if (count === 0)
    return html`<p class="notice done" role="status">No failed ${view.name.toLowerCase()} deliveries match. There is nothing to replay.</p>`;
  const number = `${numberText(count)}${count >= MOST_COUNTED ? " or more" : ""}`;
  const name = count === 1 ? "1 failed delivery" : `${number} failed deliveries`;
  return card("confirm", `Replay ${name}?`)`${facts([
    ["Events since", `${choice.since.replace("T", " ")} UTC`],
    ["Monitor ID", choice.monitor_id && html`<code>${choice.monitor_id}</code>`],
    ["Webhook URL", choice.url && html`<code class="url">${choice.url}</code>`],
  ])}
<p>Each endpoint gets the events as fast as it answers. An endpoint that still fails gets one event at a time.</p>
<form method="post" action="${view.path}/webhooks/replay" class="choices">
  ${formTokenField(visit)}
  <input type="hidden" name="replay_id" value="${randomBytes(16).toString("base64url")}">
  ${Object.entries(choice).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
  <button>Replay ${name}</button>
  <a class="button quiet" href="${deliveries}">Cancel</a>
</form>`;
}

function choiceForm(
  view: EnvironmentView,
  choice: ReplayChoice["filter"],
  problems: ReplayChoice["problems"],
  isCounted: boolean,
): Html {
  const names = Object.keys(fields) as (keyof typeof fields)[];
  return card("which", isCounted ? "Change the choice" : "Choose deliveries")`
<form method="get" action="${view.path}/webhooks/replay">
  <div class="columns">
  ${names.map((name) => fields[name].input({ name, value: choice[name], problem: problems[name] }, undefined))}
  </div>
  <p class="hint">Without a monitor ID and a webhook URL, the deliveries of all monitors are replayed.</p>
  <button${isCounted && html` class="quiet"`}>${isCounted ? "Count again" : "Count deliveries"}</button>
</form>`;
}
