import type { ApiKey } from "@vvs/proto/account/v1/api_keys";
import { type Html, html } from "../http/html.ts";
import type { EnvironmentView } from "../ui/environments.ts";
import { time } from "../ui/parts.ts";
import { hint } from "./api-keys-page.ts";

export function revokeApiKeyPage({ view, key }: { view: EnvironmentView; key: ApiKey }): Html {
  const keys = `${view.path}/api-keys`;
  if (key.revokedAt) {
    return html`<div class="card narrow"><h1>${key.name}</h1>
<p>This API key was revoked on ${time(key.revokedAt)}.</p>
<p><a class="button" href="${keys}">Go back to API keys</a></p></div>`;
  }
  return html`<div class="card narrow"><h1>Revoke ${key.name}?</h1>
<p>The ${view.name.toLowerCase()} API key <code>${hint(key)}</code> will stop working everywhere within 5 seconds. Systems that use it can’t call the API anymore. You can’t undo this.</p>
<form method="post" action="${keys}/${key.id}/revoke" class="choices">
  <button class="danger">Revoke key</button>
  <a class="button quiet" href="${keys}">Keep key</a>
</form></div>`;
}
