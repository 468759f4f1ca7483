import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { WebhookSecret } from "@vvs/proto/account/v1/webhook_secrets";
import { type Html, html } from "../http/html.ts";
import type { EnvironmentView } from "../ui/environments.ts";
import { copyable, formTokenField, time } from "../ui/parts.ts";
import { permissionHint } from "../ui/roles.ts";

export interface WebhookSecretView {
  readonly view: EnvironmentView;
  /** Its value is empty unless it is shown. */
  readonly secret: WebhookSecret;
  readonly formToken: string;
  readonly mayManage: boolean;
  /** Why the user's own secret was refused. */
  readonly valueProblem?: string;
}

export function webhookSecretSection(options: WebhookSecretView): Html {
  const { view, secret, mayManage } = options;
  return html`<section class="card" aria-labelledby="secret">
<h2 id="secret">${view.name} signing secret</h2>
<p>Every ${view.name.toLowerCase()} webhook is signed with this secret, so that you can verify that it comes from us.</p>
${secret.value ? shown(view, secret.value) : hidden(view, mayManage)}
<p class="hint">Set ${time(secret.createdAt)}.</p>
${secret.previousValidUntil && overlap(options, secret.previousValidUntil)}
${mayManage ? html`${rotateForm(options)}${ownForm(options)}` : permissionHint(view, "manage_webhooks", "view, rotate and set the secret")}
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
  return html`<div class="notice warning"><p>Webhooks are also signed with the previous secret until ${time(until)}. Both signatures are sent until then.</p>
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
<summary>Rotate: replace the secret with a new random one</summary>
<form method="post" action="${view.path}/webhooks/secret/rotate">
  ${formTokenField(formToken)}
  ${overlapChoice("rotate")}
  <button>Rotate secret</button>
</form>
</details>`;
}

function ownForm({ view, formToken, valueProblem }: WebhookSecretView): Html {
  return html`<details${valueProblem && html` open`}>
<summary>Set your own secret</summary>
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
<legend>The current secret</legend>
<label class="check"><input type="radio" name="previous" value="keep" checked id="${form}-keep"> <span>Also signs for 24 more hours <span class="hint">so that you can switch without losing events</span></span></label>
<label class="check"><input type="radio" name="previous" value="end" id="${form}-end"> <span>Ends immediately <span class="hint">if someone else may know it</span></span></label>
</fieldset>`;
}
