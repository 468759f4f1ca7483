import { type Html, html } from "../http/html.ts";
import type { EnvironmentView } from "../ui/environments.ts";
import { formTokenField, type Notice, noticeBox } from "../ui/parts.ts";

export function testEventPage(options: {
  view: EnvironmentView;
  /** Webhook URLs used before, as suggestions. */
  known: readonly string[];
  formToken: string;
  url?: string;
  notice?: Notice;
  problem?: string;
}): Html {
  const { view, known, url = "", problem } = options;
  return html`<p class="path"><a href="${view.path}/webhooks">Webhooks</a></p>
<h1>Send a test event</h1>
${noticeBox(options.notice)}
<p>A test event is a <code>monitor.change_detected</code> event with made-up changes. It is signed like every ${view.name.toLowerCase()} event and has the header <code>X-Delivery-Test: true</code>. It is attempted once and belongs to no monitor.</p>
<form method="post" action="${view.path}/webhooks/test" class="card">
  ${formTokenField(options.formToken)}
  <label for="url">Webhook URL</label>
  <input class="wide" id="url" name="url" type="url" inputmode="url" list="known" required maxlength="2048" autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="https://…" value="${url}" aria-describedby="url-hint${problem && " url-problem"}"${problem && html` aria-invalid="true" autofocus`}>
  <datalist id="known">${known.map((each) => html`<option value="${each}"></option>`)}</datalist>
  <p class="hint" id="url-hint">${known.length > 0 ? "Choose a URL that was used before, or enter another one." : "Enter the URL of your webhook endpoint."}${view.environment === "live" && " It must begin with https://."}</p>
  ${problem && html`<p class="field-problem" id="url-problem">${problem}</p>`}
  <button>Send test event</button>
  <p class="hint">The next page shows how your endpoint answered. This takes up to 15 seconds.</p>
</form>`;
}
