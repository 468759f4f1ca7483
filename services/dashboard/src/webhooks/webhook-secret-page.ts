import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { WebhookSecret } from "@vvs/proto/account/v1/webhook_secrets";
import type { Refusal } from "../http/form-refusal.ts";
import { type Html, html } from "../http/html.ts";
import type { Visit } from "../http/session.ts";
import type { EnvironmentView } from "../ui/environments.ts";
import { input, VERBATIM } from "../ui/fields.ts";
import { copyable, formTokenField, time } from "../ui/parts.ts";
import { permissionHint } from "../ui/roles.ts";

export interface WebhookSecretView {
  readonly visit: Visit;
  /** Its value is empty unless it is shown. */
  readonly secret: WebhookSecret;
  readonly formToken: string;
  /** The problems of the form that sets the user's own secret. */
  readonly problems?: Refusal["problems"];
}

export function webhookSecretSection(options: WebhookSecretView): Html {
  const { visit, secret } = options;
  const { view } = visit;
  const mayManage = visit.may("manage_webhooks");
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

function overlap({ visit: { view, may }, formToken }: WebhookSecretView, until: Timestamp): Html {
  return html`<div class="notice warning"><p>Webhooks are also signed with the previous secret until ${time(until)}. Both signatures are sent until then.</p>
${
  may("manage_webhooks") &&
  html`<form method="post" action="${view.path}/webhooks/secret/end-previous">
  ${formTokenField(formToken)}
  <button class="quiet">End the previous secret now</button>
</form>`
}</div>`;
}

function rotateForm({ visit: { view }, formToken }: WebhookSecretView): Html {
  return html`<details>
<summary>Rotate: replace the secret with a new random one</summary>
<form method="post" action="${view.path}/webhooks/secret/rotate">
  ${formTokenField(formToken)}
  ${overlapChoice("rotate")}
  <button>Rotate secret</button>
</form>
</details>`;
}

function ownForm({ visit: { view }, formToken, problems }: WebhookSecretView): Html {
  const problem = problems?.value;
  const attributes = html` required maxlength="200"${VERBATIM}${problem && html` autofocus`}`;
  const hint = html`<code>whsec_</code> followed by 24–64 random bytes in base64, for example from <code>echo whsec_$(openssl rand -base64 32)</code>.`;
  return html`<details${problem && html` open`}>
<summary>Set your own secret</summary>
<form method="post" action="${view.path}/webhooks/secret">
  ${formTokenField(formToken)}
  ${input({ name: "value", label: "Secret", attributes, value: "", hint, problem: problem && `${problem} Nothing was changed.` })}
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
