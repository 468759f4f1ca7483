import { scopes as allScopes, type Scope } from "@vvs/api-keys";
import type { ApiKey } from "@vvs/proto/account/v1/api_keys";
import { type Html, html } from "../http/html.ts";
import { confirmPath } from "../http/next-path.ts";
import type { Visit } from "../http/session.ts";
import type { EnvironmentView } from "../ui/environments.ts";
import { formTokenField, type Notice, noticeBox, time, timeAgo } from "../ui/parts.ts";
import { permissionHint } from "../ui/roles.ts";
import { textField } from "../ui/text-field.ts";
import { type ApiKeyState, apiKeyState } from "./api-key-state.ts";
import { lifetimes } from "./key-lifetime.ts";

/** The input of the form for a new key. */
export interface NewKeyInput {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly lifetime: string;
}

/** What is wrong with the input, by field. */
export type NewKeyProblems = { readonly [F in keyof NewKeyInput]?: string | undefined };

const meanings: Readonly<Record<Scope, string>> = {
  "entities:read": "look up and read vendors",
  "entities:write": "create vendors",
  "verifications:read": "read verifications and their evidence",
  "verifications:write": "verify vendors",
  "monitors:read": "read monitors and their events",
  "monitors:write": "create and cancel monitors",
};

/** The initial input of the form. */
const emptyInput: NewKeyInput = { name: "", scopes: allScopes, lifetime: "never" };

export function apiKeysPage(options: {
  visit: Visit;
  keys: readonly ApiKey[];
  formToken: string;
  now: Date;
  /** Whether the password was entered recently enough to create a key. */
  mayCreate: boolean;
  input?: NewKeyInput;
  notice?: Notice;
  problems?: NewKeyProblems;
}): Html {
  const { visit, keys, now, notice, formToken, input = emptyInput } = options;
  const { view } = visit;
  const mayManage = visit.may("manage_keys");
  return html`<h1>API keys</h1>
${noticeBox(notice)}
${
  mayManage
    ? html`<section class="card" aria-labelledby="create">
<h2 id="create">Create a ${view.name.toLowerCase()} API key</h2>
${options.mayCreate ? newKeyForm(view, formToken, input, options.problems) : confirmFirst(view)}
</section>`
    : permissionHint(view, "manage_keys", "create, roll and revoke API keys")
}
<section aria-labelledby="keys">
<h2 id="keys">${view.name} API keys</h2>
${
  keys.length === 0
    ? html`<p class="empty">There are no ${view.name.toLowerCase()} API keys yet.${mayManage && " Create one above. You then get a first API call to copy."}</p>`
    : html`<table class="keys">
<thead><tr><th scope="col">Key</th><th scope="col">Created</th><th scope="col">Last used</th><th scope="col">Expires</th>${mayManage && html`<th scope="col"><span class="unseen">Actions</span></th>`}</tr></thead>
<tbody>${keys.map((key) => keyRow(key, visit, now))}</tbody>
</table>
<p class="hint">“Last used” can be up to one minute late.</p>`
}
</section>`;
}

function confirmFirst(view: EnvironmentView): Html {
  return html`<p>Anyone who has a new key can call the API. You entered your password more than 15 minutes ago, so confirm it first.</p>
<p><a class="button" href="${confirmPath(view, "GET", `${view.path}/api-keys`)}">Confirm your password</a></p>`;
}

function keyRow(key: ApiKey, { view, may }: Visit, now: Date): Html {
  const state = apiKeyState(key, now);
  const path = `${view.path}/api-keys/${key.id}`;
  return html`<tr class="${state}">
<th scope="row">${key.name} <span class="state ${state}">${state}</span>
<span class="about"><code>${hint(key)}</code> ${scopeList(key.scopes)}</span></th>
<td data-label="Created">${timeAgo(key.createdAt, now)} <span class="about">${creator(key)}</span></td>
<td data-label="Last used">${timeAgo(key.lastUsedAt, now) ?? "never"}</td>
<td data-label="Expires">${endOf(key, state)}</td>
${may("manage_keys") && html`<td class="action">${actions(key, state, path)}</td>`}
</tr>
`;
}

function actions(key: ApiKey, state: ApiKeyState, path: string): Html {
  return html`${
    state === "active" &&
    html`<a class="button quiet" href="${path}/roll">Roll<span class="unseen"> ${key.name}</span></a> `
  }${
    state !== "revoked" &&
    html`<a class="button quiet" href="${path}/revoke">Revoke<span class="unseen"> ${key.name}</span></a>`
  }`;
}

/** Renders when a key ends or has ended, and whether it was revoked or rolled. */
function endOf(key: ApiKey, state: ApiKeyState): Html {
  const rolled = key.rolledAt && html` <span class="about">rolled ${time(key.rolledAt)}</span>`;
  if (state === "revoked") return html`revoked ${time(key.revokedAt)}${rolled}`;
  if (!rolled) return time(key.expiresAt) ?? html`never`;
  return html`${state === "rolled" && "ends at "}${time(key.expiresAt)}${rolled}`;
}

/** Returns who created a key; users who left the organization are shown by their id. */
function creator({ createdBy, createdByEmail }: ApiKey): string {
  return `by ${createdByEmail || (createdBy === "operator" ? "the operator" : createdBy)}`;
}

function scopeList(scopes: readonly string[]): Html {
  if (allScopes.every((scope) => scopes.includes(scope))) return html`all scopes`;
  return html`${scopes.join(", ")}`;
}

export function hint(key: Pick<ApiKey, "start" | "lastFour">): string {
  return `${key.start}…${key.lastFour}`;
}

function newKeyForm(view: EnvironmentView, formToken: string, input: NewKeyInput, problems: NewKeyProblems = {}): Html {
  const picksAll = allScopes.every((scope) => input.scopes.includes(scope));
  return html`<form method="post" action="${view.path}/api-keys">
  ${formTokenField(formToken)}
  ${textField({ name: "name", label: "Name", autocomplete: "off", maxLength: 100, value: input.name, hint: "A name that you will recognize, such as the system that will use the key.", problem: problems.name })}
  <details${(!picksAll || problems.scopes) && html` open`}>
    <summary>Scopes: what the key can do</summary>
    <fieldset${problems.scopes && html` aria-describedby="scopes-problem"`}>
      <legend>The key gets all scopes unless you clear some</legend>
      ${allScopes.map(
        (scope) =>
          html`<label class="check"><input type="checkbox" name="scopes" value="${scope}"${input.scopes.includes(scope) && html` checked`}> <span><code>${scope}</code> <span class="hint">${meanings[scope]}</span></span></label>`,
      )}
      ${problems.scopes && html`<p class="field-problem" id="scopes-problem">${problems.scopes}</p>`}
    </fieldset>
  </details>
  ${lifetimeField(input.lifetime, problems.lifetime)}
  <button>Create key</button>
</form>`;
}

/** Renders the choice of when a new key expires. */
export function lifetimeField(picked: string, problem?: string): Html {
  return html`<label for="expires">The new key expires</label>
  <select id="expires" name="expires"${problem && html` aria-invalid="true" aria-describedby="expires-problem"`}>${lifetimes.map(
    ({ id, name }) => html`<option value="${id}"${id === picked && html` selected`}>${name}</option>`,
  )}</select>
  <p class="hint">A key that expires can’t be misused if it is forgotten.</p>
  ${problem && html`<p class="field-problem" id="expires-problem">${problem}</p>`}`;
}
