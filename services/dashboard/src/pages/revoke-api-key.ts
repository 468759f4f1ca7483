import type { ApiKey } from "@vvs/proto/account/v1/account";
import type { EnvironmentView } from "../environments.ts";
import { type Html, html } from "../http/html.ts";
import { hint } from "./api-keys.ts";
import { time } from "./parts.ts";

export function revokeApiKeyPage({ view, key }: { view: EnvironmentView; key: ApiKey }): Html {
  const keys = `${view.path}/api-keys`;
  if (key.revokedAt) {
    return html`<div class="card narrow"><h1>${key.name}</h1>
<p>This key was revoked on ${time(key.revokedAt)}.</p>
<p><a class="button" href="${keys}">Back to the keys</a></p></div>`;
  }
  return html`<div class="card narrow"><h1>Revoke ${key.name}?</h1>
<p>The ${view.name.toLowerCase()} key <code>${hint(key)}</code> is refused everywhere within 5 seconds. Systems that use it stop working. This can’t be undone.</p>
<form method="post" action="${keys}/${key.id}/revoke" class="choices">
  <button class="danger">Revoke key</button>
  <a class="button quiet" href="${keys}">Keep it</a>
</form></div>`;
}
