import type { ApiKey } from "@vvs/proto/account/v1/account";
import type { EnvironmentView } from "../environments.ts";
import { type Html, html } from "../http/html.ts";
import { hint } from "./api-keys.ts";
import { copyable, time } from "./parts.ts";

export function apiKeyCreatedPage(options: {
  view: EnvironmentView;
  key: ApiKey;
  value: string;
  firstCall: string;
  /** The key whose place it took. */
  rolled?: ApiKey;
}): Html {
  const { key, rolled } = options;
  return html`<h1>Your key is ready</h1>
<section class="card" aria-labelledby="value">
<h2 id="value">${key.name}</h2>
<p class="notice warning"><strong>Copy it now: it is shown this once.</strong> We keep no copy that could be shown again. If it is lost, revoke it and create another.</p>
${copyable("key-value", "The new API key", options.value)}
${key.expiresAt && html`<p>It ends on ${time(key.expiresAt)}.</p>`}
${rolled && html`<p>The one before, <code>${hint(rolled)}</code>, ${rolled.revokedAt ? "has ended: it is refused everywhere within 5 seconds." : html`works until ${time(rolled.expiresAt)}.`}</p>`}
<p><a class="button" href="${options.view.path}/api-keys">I have stored the key</a></p>
</section>
<section class="card" aria-labelledby="first-call">
<h2 id="first-call">Try it</h2>
<p>A first call with this key, ready for a terminal:</p>
${copyable("first-call-command", "A first call with curl", options.firstCall)}
</section>`;
}
