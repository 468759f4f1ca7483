import { scopes as allScopes, type Scope } from "@vvs/api-keys";
import type { ApiKey } from "@vvs/proto/account/v1/api_keys";
import type { Response } from "express";
import { field, fieldValues } from "../http/form.ts";
import { type Html, html } from "../http/html.ts";
import { ProblemError } from "../http/problem.ts";
import { permissionHint } from "../http/roles.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import { isConfirmed } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";
import { keyHint } from "../page/panels.ts";
import { choiceGroup, textField } from "../ui/fields.ts";
import { invalid, type Refusal, type RefusalTexts, refusalOf } from "../ui/form-refusal.ts";
import { card, confirmFirst, formTokenField, noticeOf, problemNotice, section, time, timeAgo } from "../ui/parts.ts";
import { table } from "../ui/table.ts";
import {
  type ApiKeyState,
  apiKeyCreatedPage,
  apiKeyState,
  endOf,
  initialRollInput,
  lifetimeField,
  overlapSeconds,
  type RollInput,
  revokeApiKeyPage,
  rollApiKeyPage,
} from "./api-key-pages.ts";
import { firstCall } from "./first-call.ts";

const notices = {
  confirmed: "Your identity is confirmed. You can now create and roll API keys.",
  revoked: "The API key was revoked. It stops working everywhere within 5 seconds.",
};

const refusals: RefusalTexts = {
  sentBefore:
    "This form was already sent, so no other key was created. The value of a key is shown only once. If you did not save it, revoke that key and create a new one.",
  fields: { name: "name", scopes: "choice of scopes" },
};

export function createApiKeyHandlers({ apiKeys, layout, apiBaseUrl }: PageContext) {
  async function sendList(
    response: Response,
    visit: Visit,
    shown: Partial<Refusal> & { input?: NewKeyInput },
  ): Promise<void> {
    const { keys } = await apiKeys.listApiKeys({ caller: visit.caller });
    const { status, notice, problems, input = emptyInput } = shown;
    const { view } = visit;
    const mayManage = visit.may("manage_keys");
    const content = html`${
      mayManage
        ? card("create", `Create a ${view.name.toLowerCase()} API key`)`
${isConfirmed(visit) ? newKeyForm(visit, input, problems) : confirmFirst(view, "/api-keys", "Anyone who has a new key can call the API.")}`
        : permissionHint(view, "manage_keys", "create, roll and revoke API keys")
    }
${section("keys", `${view.name} API keys`)`${
  keys.length === 0
    ? html`<p class="empty">There are no ${view.name.toLowerCase()} API keys yet.${mayManage && " Create one above. You then get a first API call to copy."}</p>`
    : html`${keysTable(keys, visit)}
<p class="hint">“Last used” can be up to one minute late.</p>`
}`}`;
    layout.sendPage(response, { visit, title: "API keys", status, notice, content });
  }

  /** Shows the value of a new key, once. */
  function sendValue(
    response: Response,
    visit: Visit,
    { key, value, rolled }: { key?: ApiKey; value: string; rolled?: ApiKey },
  ): void {
    const { environment } = visit.view;
    const call = firstCall({ baseUrl: apiBaseUrl, key: value, environment, scopes: key!.scopes });
    const reference = new URL("/docs", apiBaseUrl);
    const content = apiKeyCreatedPage({ view: visit.view, key: key!, value, firstCall: call, reference, rolled });
    layout.sendPage(response, { visit, title: "Your API key is ready", content });
  }

  function sendRoll(
    response: Response,
    visit: Visit,
    shown: Partial<Refusal> & { key: ApiKey; input: RollInput },
  ): void {
    const { status, notice, key, input } = shown;
    const content = rollApiKeyPage({ visit, key, input });
    layout.sendCard(response, { visit, title: `Roll the key “${key.name}”`, status, notice, content });
  }

  async function findKey(visit: Visit, id: unknown): Promise<ApiKey> {
    const { keys } = await apiKeys.listApiKeys({ caller: visit.caller });
    const key = keys.find((candidate) => candidate.id === id);
    if (!key) throw new ProblemError("page_not_found");
    return key;
  }

  return {
    list: (request, response, visit) => sendList(response, visit, { notice: noticeOf(request, notices) }),

    async create(request, response, visit) {
      const input = {
        name: field(request, "name"),
        scopes: fieldValues(request, "scopes"),
        expires: field(request, "expires"),
      };
      const refuse = (refusal: Refusal) => sendList(response, visit, { ...refusal, input });
      if (input.scopes.length === 0) return refuse(invalid({ scopes: "Choose at least one scope." }, refusals));
      const expiresAt = endOf(input.expires, visit.now);
      if (expiresAt === "unknown") return refuse(invalid({ expires: "Choose when the key expires." }, refusals));
      const newKey = { ...visit.bySession, name: input.name, scopes: input.scopes, expiresAt };
      try {
        const created = await visit.forms.once((submission) => apiKeys.createApiKey({ ...newKey, submission }));
        sendValue(response, visit, created);
      } catch (error) {
        await refuse(refusalOf(response, error, refusals));
      }
    },

    async askToRoll(request, response, visit) {
      const key = await findKey(visit, request.params.key_id);
      sendRoll(response, visit, { key, input: initialRollInput(key) });
    },

    async roll(request, response, visit) {
      const keyId = String(request.params.key_id);
      const input = { overlap: field(request, "overlap"), lifetime: field(request, "expires") };
      const refuse = async (refusal: Refusal) =>
        sendRoll(response, visit, { ...refusal, key: await findKey(visit, keyId), input });
      const [overlap, expiresAt] = [overlapSeconds(input.overlap), endOf(input.lifetime, visit.now)];
      if (overlap === undefined || expiresAt === "unknown") {
        const text = "Nothing was changed. Choose how long the current key works and when the new one expires.";
        return refuse({ status: 400, notice: problemNotice(text) });
      }
      const newKey = { ...visit.bySession, keyId, overlapSeconds: overlap, expiresAt };
      try {
        const rolled = await visit.forms.once((submission) => apiKeys.rollApiKey({ ...newKey, submission }));
        sendValue(response, visit, rolled);
      } catch (error) {
        await refuse(refusalOf(response, error, refusals));
      }
    },

    async askToRevoke(request, response, visit) {
      const key = await findKey(visit, request.params.key_id);
      const content = revokeApiKeyPage({ view: visit.view, key });
      layout.sendCard(response, { visit, title: `Revoke the key “${key.name}”?`, content });
    },

    async revoke(request, response, visit) {
      await apiKeys.revokeApiKey({ ...visit.bySession, keyId: String(request.params.key_id) });
      response.redirect(303, `${visit.view.path}/api-keys?done=revoked`);
    },
  } satisfies PageHandlers;
}

/** The input of the form for a new key. */
interface NewKeyInput {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly expires: string;
}

const meanings: Readonly<Record<Scope, string>> = {
  "entities:read": "look up and read vendors",
  "entities:write": "create vendors",
  "verifications:read": "read verifications and their evidence",
  "verifications:write": "verify vendors",
  "monitors:read": "read monitors and their events",
  "monitors:write": "create and cancel monitors",
};

/** The initial input of the form. */
const emptyInput: NewKeyInput = { name: "", scopes: allScopes, expires: "never" };

function keysTable(keys: readonly ApiKey[], { view, may, now }: Visit): Html {
  const rows = keys.map((key) => ({ key, state: apiKeyState(key, now) }));
  return table(
    "keys",
    rows,
    [
      [
        "Key",
        ({ key, state }) => html`${key.name} <span class="state ${state}">${state}</span>
<span class="about"><code>${keyHint(key)}</code> ${scopeList(key.scopes)}</span>`,
      ],
      ["Created", ({ key }) => html`${timeAgo(key.createdAt, now)} <span class="about">${creator(key)}</span>`],
      ["Last used", ({ key }) => timeAgo(key.lastUsedAt, now) ?? "never"],
      ["Expires", ({ key, state }) => endText(key, state)],
      may("manage_keys") && [
        "Actions",
        ({ key, state }) => actions(key, state, `${view.path}/api-keys/${key.id}`),
        "action",
      ],
    ],
    ({ state }) => state,
  );
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
function endText(key: ApiKey, state: ApiKeyState): Html {
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

function newKeyForm(visit: Visit, input: NewKeyInput, problems: NonNullable<Refusal["problems"]> = {}): Html {
  const choices = allScopes.map((value) => {
    return { value, label: html`<code>${value}</code>`, meaning: meanings[value] };
  });
  const picksAll = allScopes.every((scope) => input.scopes.includes(scope));
  return html`<form method="post" action="${visit.view.path}/api-keys">
  ${formTokenField(visit)}
  ${textField({ name: "name", label: "Name", autocomplete: "off", maxLength: 100, value: input.name, hint: "A name that you will recognize, such as the system that will use the key.", problem: problems.name })}
  <details${(!picksAll || problems.scopes) && html` open`}>
    <summary>Scopes: what the key can do</summary>
    ${choiceGroup({ type: "checkbox", name: "scopes", legend: "The key gets all scopes unless you clear some", choices, picked: input.scopes, problem: problems.scopes })}
  </details>
  ${lifetimeField(input.expires, problems.expires)}
  <button>Create key</button>
</form>`;
}
