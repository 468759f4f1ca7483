import type { ApiKey } from "@vvs/proto/account/v1/api_keys";
import { type Html, html } from "../http/html.ts";
import type { EnvironmentView } from "../ui/environments.ts";
import { copyable, time } from "../ui/parts.ts";
import { hint } from "./api-keys-page.ts";

export function apiKeyCreatedPage(options: {
  view: EnvironmentView;
  key: ApiKey;
  value: string;
  firstCall: string;
  /** The key that it replaces, if any. */
  rolled?: ApiKey;
}): Html {
  const { key, rolled } = options;
  return html`<h1>Your API key is ready</h1>
<section class="card" aria-labelledby="value">
<h2 id="value">${key.name}</h2>
<p class="notice warning"><strong>Copy the key now. It is shown only once.</strong> If you lose it, revoke it and create a new one.</p>
${copyable("key-value", "The new API key", options.value)}
${key.expiresAt && html`<p>It expires on ${time(key.expiresAt)}.</p>`}
${rolled && html`<p>The previous key <code>${hint(rolled)}</code> ${rolled.revokedAt ? "has ended. It stops working everywhere within 5 seconds." : html`works until ${time(rolled.expiresAt)}.`}</p>`}
<p><a class="button" href="${options.view.path}/api-keys">I have saved the key</a></p>
</section>
<section class="card" aria-labelledby="first-call">
<h2 id="first-call">Try it</h2>
<p>To make a first call with this key, paste this command into a terminal:</p>
${copyable("first-call-command", "A first call with curl", options.firstCall)}
</section>`;
}
