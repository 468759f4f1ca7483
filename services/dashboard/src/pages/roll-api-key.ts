import type { ApiKey } from "@vvs/proto/account/v1/account";
import { apiKeyState } from "../api-key-state.ts";
import type { EnvironmentView } from "../environments.ts";
import { type Html, html } from "../http/html.ts";
import { DEFAULT_OVERLAP, lifetimeOf, overlaps } from "../key-lifetime.ts";
import { hint, lifetimeField } from "./api-keys.ts";
import { formTokenField, type Notice, noticeBox } from "./parts.ts";

/** What a user chose in the form that rolls a key. */
export interface RollInput {
  readonly overlap: string;
  readonly lifetime: string;
}

/** What an untouched form holds: the new key is to live as long as the one before. */
export function untouchedRoll(key: ApiKey): RollInput {
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
<p>This key has ended or was rolled before, so it can’t be rolled.</p>
<p><a class="button" href="${keys}">Back to the keys</a></p></div>`;
  }
  return html`<div class="card narrow"><h1>Roll ${key.name}</h1>
${noticeBox(options.notice)}
<p>A new ${view.name.toLowerCase()} key of the same name and scopes takes the place of <code>${hint(key)}</code>. Its value is shown once; give it to the systems that use the present one while both work.</p>
<form method="post" action="${keys}/${key.id}/roll">
  ${formTokenField(options.formToken)}
  <fieldset>
    <legend>The present key</legend>
    ${overlaps.map(
      ({ id, name, hint: when }) =>
        html`<label class="check"><input type="radio" name="overlap" value="${id}"${id === input.overlap && html` checked`}> <span>${name} <span class="hint">${when}</span></span></label>`,
    )}
  </fieldset>
  ${lifetimeField(input.lifetime)}
  <p class="choices"><button>Roll key</button>
  <a class="button quiet" href="${keys}">Keep it as it is</a></p>
</form></div>`;
}
