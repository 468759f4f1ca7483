import type { EnvironmentView } from "../environments.ts";
import { type Html, html } from "../http/html.ts";
import { formTokenField, type Notice, noticeBox } from "./parts.ts";

export function testEventPage(options: {
  view: EnvironmentView;
  /** URLs that deliveries went to. */
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
<p>A <code>monitor.change_detected</code> with made-up changes, signed as every ${view.name.toLowerCase()} event is, and marked with <code>X-Delivery-Test: true</code>. It is attempted once, and is in no monitor’s history.</p>
<form method="post" action="${view.path}/webhooks/test" class="card">
  ${formTokenField(options.formToken)}
  <label for="url">URL</label>
  <input class="wide" id="url" name="url" type="url" inputmode="url" list="known" required maxlength="2048" autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="https://…" value="${url}" aria-describedby="url-hint${problem && " url-problem"}"${problem && html` aria-invalid="true" autofocus`}>
  <datalist id="known">${known.map((each) => html`<option value="${each}"></option>`)}</datalist>
  <p class="hint" id="url-hint">${known.length > 0 ? "One that deliveries went to, or any other" : "Any"} that a ${view.name.toLowerCase()} monitor may send to${view.environment === "live" ? ": it begins with https://" : ""}.</p>
  ${problem && html`<p class="field-problem" id="url-problem">${problem}</p>`}
  <button>Send test event</button>
  <p class="hint">The page that follows shows the answer. It takes up to 15 seconds.</p>
</form>`;
}
