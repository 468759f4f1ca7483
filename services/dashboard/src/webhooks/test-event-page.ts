import type { Refusal } from "../http/form-refusal.ts";
import { type Html, html } from "../http/html.ts";
import type { Visit } from "../http/session.ts";
import { input, VERBATIM } from "../ui/fields.ts";
import { formTokenField, noticeBox } from "../ui/parts.ts";

interface TestEventView extends Partial<Refusal> {
  readonly visit: Visit;
  /** Webhook URLs used before, as suggestions. */
  readonly known: readonly string[];
  readonly formToken: string;
  readonly url: string;
}

export function testEventPage(options: TestEventView): Html {
  const { known, url } = options;
  const { path, name, environment } = options.visit.view;
  const problem = options.problems?.webhook_url;
  const attributes = html` class="wide" type="url" inputmode="url" list="known" required maxlength="2048"${VERBATIM} placeholder="https://…"${problem && html` autofocus`}`;
  const hint = `${known.length > 0 ? "Choose a URL that was used before, or enter another one." : "Enter the URL of your webhook endpoint."}${environment === "live" ? " It must begin with https://." : ""}`;
  return html`<p class="path"><a href="${path}/webhooks">Webhooks</a></p>
<h1>Send a test event</h1>
${noticeBox(options.notice)}
<p>A test event is a <code>monitor.change_detected</code> event with made-up changes. It is signed with the ${name.toLowerCase()} signing secret and says <code>"test": true</code> in its body, which is signed. It is attempted once and belongs to no monitor.</p>
<form method="post" action="${path}/webhooks/test" class="card" data-busy="Waiting for the answer of your endpoint …">
  ${formTokenField(options.formToken)}
  ${input({ name: "url", label: "Webhook URL", attributes, value: url, hint, problem: problem && `${problem} Nothing was sent.` })}
  <datalist id="known">${known.map((each) => html`<option value="${each}"></option>`)}</datalist>
  <p class="choices"><button>Send test event</button> <span class="hint">The next page shows how your endpoint answered. This takes up to 15 seconds.</span></p>
</form>`;
}
