import { scopes as allScopes, type Scope } from "@vvs/api-keys";
import type { ApiKey } from "@vvs/proto/account/v1/account";
import { apiKeyState } from "../api-key-state.ts";
import type { EnvironmentView } from "../environments.ts";
import { type Html, html } from "../http/html.ts";
import { formTokenField, type Notice, noticeBox, time } from "./parts.ts";

/** What a user typed into the form for a new key. */
export interface NewKeyInput {
  readonly name: string;
  readonly scopes: readonly string[];
}

const meanings: Readonly<Record<Scope, string>> = {
  "entities:read": "look up and read vendors",
  "entities:write": "create vendors",
  "verifications:read": "read verifications and their evidence",
  "verifications:write": "verify vendors",
  "monitors:read": "read monitors and their events",
  "monitors:write": "create and cancel monitors",
};

/** What an untouched form holds. */
export const emptyInput: NewKeyInput = { name: "", scopes: allScopes };

export function apiKeysPage(options: {
  view: EnvironmentView;
  keys: readonly ApiKey[];
  formToken: string;
  now: Date;
  input?: NewKeyInput;
  notice?: Notice;
  nameProblem?: string;
  scopesProblem?: string;
}): Html {
  const { view, keys, now, notice } = options;
  return html`<h1>API keys</h1>
${noticeBox(notice)}
${newKeyForm({ ...options, input: options.input ?? emptyInput })}
<section aria-labelledby="keys">
<h2 id="keys">${view.name} keys</h2>
${
  keys.length === 0
    ? html`<p class="empty">There are no ${view.name.toLowerCase()} keys yet.</p>`
    : html`<table>
<thead><tr><th scope="col">Name</th><th scope="col">Key</th><th scope="col">Scopes</th><th scope="col">Created</th><th scope="col">State</th><th scope="col"><span class="unseen">Action</span></th></tr></thead>
<tbody>${keys.map((key) => keyRow(key, view, now))}</tbody>
</table>`
}
</section>`;
}

function keyRow(key: ApiKey, view: EnvironmentView, now: Date): Html {
  const state = apiKeyState(key, now);
  const since = state === "revoked" ? key.revokedAt : key.expiresAt;
  return html`<tr class="${state}">
<th scope="row">${key.name}</th>
<td data-label="Key"><code>${hint(key)}</code></td>
<td data-label="Scopes">${scopeList(key.scopes)}</td>
<td data-label="Created">${time(key.createdAt)}</td>
<td data-label="State"><span class="state ${state}">${state}</span>${since && html` <span class="hint">${state === "active" && "until "}${time(since)}</span>`}</td>
<td class="action">${
    state !== "revoked" &&
    html`<a class="button quiet" href="${view.path}/api-keys/${key.id}/revoke">Revoke<span class="unseen"> ${key.name}</span></a>`
  }</td>
</tr>
`;
}

function scopeList(scopes: readonly string[]): Html {
  if (allScopes.every((scope) => scopes.includes(scope))) return html`all`;
  return html`<span class="scopes">${scopes.join(", ")}</span>`;
}

export function hint(key: Pick<ApiKey, "start" | "lastFour">): string {
  return `${key.start}…${key.lastFour}`;
}

function newKeyForm(options: {
  view: EnvironmentView;
  formToken: string;
  input: NewKeyInput;
  nameProblem?: string;
  scopesProblem?: string;
}): Html {
  const { view, input, nameProblem, scopesProblem } = options;
  const picksAll = allScopes.every((scope) => input.scopes.includes(scope));
  return html`<section class="card" aria-labelledby="create">
<h2 id="create">Create a ${view.name.toLowerCase()} key</h2>
<form method="post" action="${view.path}/api-keys">
  ${formTokenField(options.formToken)}
  <label for="name">Name</label>
  <input id="name" name="name" required maxlength="100" autocomplete="off" value="${input.name}" aria-describedby="name-hint${nameProblem && " name-problem"}"${nameProblem && html` aria-invalid="true"`}>
  <p class="hint" id="name-hint">To tell your keys apart, such as the name of the system that will use it.</p>
  ${nameProblem && html`<p class="field-problem" id="name-problem">${nameProblem}</p>`}
  <details${(!picksAll || scopesProblem) && html` open`}>
    <summary>Scopes: what the key may do</summary>
    <fieldset${scopesProblem && html` aria-describedby="scopes-problem"`}>
      <legend>All, unless you pick fewer</legend>
      ${allScopes.map(
        (scope) =>
          html`<label class="check"><input type="checkbox" name="scopes" value="${scope}"${input.scopes.includes(scope) && html` checked`}> <span><code>${scope}</code> <span class="hint">${meanings[scope]}</span></span></label>`,
      )}
      ${scopesProblem && html`<p class="field-problem" id="scopes-problem">${scopesProblem}</p>`}
    </fieldset>
  </details>
  <button>Create key</button>
</form>
</section>`;
}
