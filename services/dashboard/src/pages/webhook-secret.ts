import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { WebhookSecret } from "@vvs/proto/account/v1/account";
import type { EnvironmentView } from "../environments.ts";
import { type Html, html } from "../http/html.ts";
import { copyable, formTokenField, time } from "./parts.ts";
import { whoMay } from "./who-may.ts";

export interface WebhookSecretView {
  readonly view: EnvironmentView;
  /** Its value is empty unless it is to be shown. */
  readonly secret: WebhookSecret;
  readonly formToken: string;
  readonly mayManage: boolean;
  /** Why an own secret was refused. */
  readonly valueProblem?: string;
}

export function webhookSecretSection(options: WebhookSecretView): Html {
  const { view, secret, mayManage } = options;
  return html`<section class="card" aria-labelledby="secret">
<h2 id="secret">${view.name} signing secret</h2>
<p>Every ${view.name.toLowerCase()} webhook is signed with it, so that you can tell ours from anybody else’s.</p>
${secret.value ? shown(view, secret.value) : hidden(view, mayManage)}
<p class="hint">Set ${time(secret.createdAt)}.</p>
${secret.previousValidUntil && overlap(options, secret.previousValidUntil)}
${mayManage ? html`${rotateForm(options)}${ownForm(options)}` : whoMay(view, "manage_webhooks", "see, rotate and set the secret")}
</section>`;
}

function hidden(view: EnvironmentView, mayShow: boolean): Html {
  const dots = html`<pre aria-label="The secret is hidden"><code>whsec_••••••••••••••••••••••••••••••••</code></pre>`;
  if (!mayShow) return html`<div class="copyable">${dots}</div>`;
  return html`<form method="post" action="${view.path}/webhooks/secret/show" class="copyable">
${dots}
<button class="quiet">Show</button>
</form>`;
}

function shown(view: EnvironmentView, value: string): Html {
  return html`${copyable("secret-value", "The signing secret", value)}
<p><a href="${view.path}/webhooks">Hide</a></p>`;
}

function overlap({ view, formToken, mayManage }: WebhookSecretView, until: Timestamp): Html {
  return html`<div class="notice warning"><p>The previous secret still signs too, until ${time(until)}. Both signatures are sent until then.</p>
${
  mayManage &&
  html`<form method="post" action="${view.path}/webhooks/secret/end-previous">
  ${formTokenField(formToken)}
  <button class="quiet">End the previous secret now</button>
</form>`
}</div>`;
}

function rotateForm({ view, formToken }: WebhookSecretView): Html {
  return html`<details>
<summary>Rotate: replace it with a new random one</summary>
<form method="post" action="${view.path}/webhooks/secret/rotate">
  ${formTokenField(formToken)}
  ${overlapChoice("rotate")}
  <button>Rotate secret</button>
</form>
</details>`;
}

function ownForm({ view, formToken, valueProblem }: WebhookSecretView): Html {
  return html`<details${valueProblem && html` open`}>
<summary>Set a secret of your own</summary>
<form method="post" action="${view.path}/webhooks/secret">
  ${formTokenField(formToken)}
  <label for="value">Secret</label>
  <input id="value" name="value" required maxlength="200" autocomplete="off" autocapitalize="off" spellcheck="false" aria-describedby="value-hint${valueProblem && " value-problem"}"${valueProblem && html` aria-invalid="true" autofocus`}>
  <p class="hint" id="value-hint"><code>whsec_</code> followed by 24–64 random bytes in base64, for example from <code>echo whsec_$(openssl rand -base64 32)</code>.</p>
  ${valueProblem && html`<p class="field-problem" id="value-problem">${valueProblem}</p>`}
  ${overlapChoice("set")}
  <button>Set secret</button>
</form>
</details>`;
}

function overlapChoice(form: string): Html {
  return html`<fieldset>
<legend>The present secret</legend>
<label class="check"><input type="radio" name="previous" value="keep" checked id="${form}-keep"> <span>signs beside the new one for 24 hours <span class="hint">so that you can change it without losing an event</span></span></label>
<label class="check"><input type="radio" name="previous" value="end" id="${form}-end"> <span>ends at once <span class="hint">if somebody else may know it</span></span></label>
</fieldset>`;
}
