import type { EnvironmentView } from "../environments.ts";
import { type Html, html } from "../http/html.ts";
import { copyable } from "./parts.ts";

export function apiKeyCreatedPage(options: {
  view: EnvironmentView;
  name: string;
  value: string;
  firstCall: string;
}): Html {
  return html`<h1>Your key is ready</h1>
<section class="card" aria-labelledby="value">
<h2 id="value">${options.name}</h2>
<p class="notice warning"><strong>Copy it now: it is shown this once.</strong> We keep no copy that could be shown again. If it is lost, revoke it and create another.</p>
${copyable("key-value", "The new API key", options.value)}
<p><a class="button" href="${options.view.path}/api-keys">I have stored the key</a></p>
</section>
<section class="card" aria-labelledby="first-call">
<h2 id="first-call">Try it</h2>
<p>A first call with this key, ready for a terminal:</p>
${copyable("first-call-command", "A first call with curl", options.firstCall)}
</section>`;
}
