import type { ApiKey } from "@vvs/proto/account/v1/api_keys";
import { type Html, html } from "../http/html.ts";
import type { EnvironmentView } from "../ui/environments.ts";
import { formTokenField, type Notice, noticeBox } from "../ui/parts.ts";
import { apiKeyState } from "./api-key-state.ts";
import { hint, lifetimeField } from "./api-keys-page.ts";
import { DEFAULT_OVERLAP, lifetimeOf, overlaps } from "./key-lifetime.ts";

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
  return html`<div class="card narrow"><h1>Roll ${key.name}</h1>
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
