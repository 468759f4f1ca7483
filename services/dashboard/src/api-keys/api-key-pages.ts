import type { ApiKey } from "@vvs/proto/account/v1/api_keys";
import { type Html, html } from "../http/html.ts";
import type { EnvironmentView } from "../ui/environments.ts";
import { copyable, formTokenField, type Notice, noticeBox, time } from "../ui/parts.ts";
import { apiKeyState } from "./api-key-state.ts";
import { hint, lifetimeField } from "./api-keys-page.ts";
import { DEFAULT_OVERLAP, lifetimeOf, overlaps } from "./key-lifetime.ts";

export function apiKeyCreatedPage(options: {
  view: EnvironmentView;
  key: ApiKey;
  value: string;
  firstCall: string;
  /** Address of the API reference. */
  reference: URL;
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
<p>The <a href="${options.reference.href}">API reference</a> has all other calls, and leads to a first webhook on your machine. The <a href="${options.view.path}/overview">overview</a> shows your next step.</p>
</section>`;
}

/** The input of the form that rolls a key. */
export interface RollInput {
  readonly overlap: string;
  readonly lifetime: string;
}

/** Returns the initial input of the form: the new key lives as long as the current one. */
export function initialRollInput(key: ApiKey): RollInput {
  return { overlap: DEFAULT_OVERLAP, lifetime: lifetimeOf(key) };
}

export function rollApiKeyPage(options: {
  view: EnvironmentView;
  key: ApiKey;
  formToken: string;
  now: Date;
  input: RollInput;
  notice?: Notice;
}): Html {
  const { view, key, input } = options;
  const keys = `${view.path}/api-keys`;
  if (apiKeyState(key, options.now) !== "active") {
    return html`<div class="card narrow"><h1>${key.name}</h1>
${noticeBox(options.notice)}
<p>This API key has ended or was already rolled, so it can’t be rolled again.</p>
<p><a class="button" href="${keys}">Go back to API keys</a></p></div>`;
  }
  return html`<div class="card narrow"><h1>Roll the key “${key.name}”</h1>
${noticeBox(options.notice)}
<p>A new ${view.name.toLowerCase()} API key with the same name and scopes replaces <code>${hint(key)}</code>. Its value is shown only once. Give it to the systems that use the current key while both keys work.</p>
<form method="post" action="${keys}/${key.id}/roll">
  ${formTokenField(options.formToken)}
  <fieldset>
    <legend>The current key</legend>
    ${overlaps.map(
      ({ id, name, hint: when }) =>
        html`<label class="check"><input type="radio" name="overlap" value="${id}"${id === input.overlap && html` checked`}> <span>${name} <span class="hint">${when}</span></span></label>`,
    )}
  </fieldset>
  ${lifetimeField(input.lifetime)}
  <p class="choices"><button>Roll key</button>
  <a class="button quiet" href="${keys}">Cancel</a></p>
</form></div>`;
}

export function revokeApiKeyPage({ view, key }: { view: EnvironmentView; key: ApiKey }): Html {
  const keys = `${view.path}/api-keys`;
  if (key.revokedAt) {
    return html`<div class="card narrow"><h1>${key.name}</h1>
<p>This API key was revoked on ${time(key.revokedAt)}.</p>
<p><a class="button" href="${keys}">Go back to API keys</a></p></div>`;
  }
  return html`<div class="card narrow"><h1>Revoke the key “${key.name}”?</h1>
<p>The ${view.name.toLowerCase()} API key <code>${hint(key)}</code> will stop working everywhere within 5 seconds. Systems that use it can’t call the API anymore. You can’t undo this.</p>
<form method="post" action="${keys}/${key.id}/revoke" class="choices">
  <button class="danger">Revoke key</button>
  <a class="button quiet" href="${keys}">Keep key</a>
</form></div>`;
}
