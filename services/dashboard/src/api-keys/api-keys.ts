import { ServiceError } from "@vvs/errors";
import type { ApiKey, ApiKeyService } from "@vvs/proto/account/v1/api_keys";
import type { Client } from "@vvs/rpc";
import type { Request, Response } from "express";
import { field, fieldValues } from "../http/form.ts";
import { type FormTokens, FormUsedError } from "../http/form-token.ts";
import { ProblemError } from "../http/problem.ts";
import { hasRecentPassword } from "../http/recent-password.ts";
import type { PageHandler, Visit } from "../http/session.ts";
import { firstCall } from "../overview/first-call.ts";
import type { Layout } from "../ui/layout.ts";
import type { Notice } from "../ui/parts.ts";
import { apiKeyCreatedPage } from "./api-key-created-page.ts";
import { apiKeysPage, type NewKeyInput } from "./api-keys-page.ts";
import { endOf, overlapSeconds } from "./key-lifetime.ts";
import { revokeApiKeyPage } from "./revoke-api-key-page.ts";
import { initialRollInput, type RollInput, rollApiKeyPage } from "./roll-api-key-page.ts";

type ApiKeys = Pick<Client<typeof ApiKeyService>, "listApiKeys" | "createApiKey" | "rollApiKey" | "revokeApiKey">;

export interface ApiKeyHandlers {
  readonly list: PageHandler;
  readonly create: PageHandler;
  readonly askToRoll: PageHandler;
  readonly roll: PageHandler;
  readonly askToRevoke: PageHandler;
  readonly revoke: PageHandler;
}

/** A new key with its value, which is shown only once, and the key that it replaces, if any. */
interface NewKey {
  readonly key?: ApiKey;
  readonly value: string;
  readonly rolled?: ApiKey;
}

/** Why no key was created; shown above the list. */
interface Refusal {
  readonly status: number;
  readonly input?: NewKeyInput;
  readonly notice?: Notice;
  readonly nameProblem?: string;
  readonly scopesProblem?: string;
  readonly lifetimeProblem?: string;
}

const done: Readonly<Record<string, string>> = {
  confirmed: "Your identity is confirmed. You can now create and roll API keys.",
  revoked: "The API key was revoked. It stops working everywhere within 5 seconds.",
};

export function createApiKeyHandlers(options: {
  apiKeys: ApiKeys;
  layout: Layout;
  formTokens: FormTokens;
  apiBaseUrl: URL;
  now: () => Date;
}): ApiKeyHandlers {
  const { layout, formTokens, now } = options;

  async function sendList(
    request: Request,
    response: Response,
    visit: Visit,
    shown: Partial<Refusal> = {},
  ): Promise<void> {
    const { keys } = await options.apiKeys.listApiKeys({ caller: visit.caller });
    const formToken = formTokens.issue(request, response);
    layout.sendPage(response, {
      visit,
      section: "api-keys",
      title: "API keys",
      status: shown.status,
      content: apiKeysPage({
        ...shown,
        visit,
        keys,
        formToken,
        now: now(),
        mayCreate: hasRecentPassword(visit.session, now()),
      }),
    });
  }

  function sendValue(response: Response, visit: Visit, { key, value, rolled }: NewKey): void {
    const { environment } = visit.view;
    const call = firstCall({ baseUrl: options.apiBaseUrl, key: value, environment, scopes: key!.scopes });
    const content = apiKeyCreatedPage({ view: visit.view, key: key!, value, firstCall: call, rolled });
    layout.sendPage(response, { visit, section: "api-keys", title: "Your API key is ready", content });
  }

  function sendRoll(
    request: Request,
    response: Response,
    visit: Visit,
    shown: { key: ApiKey; input: RollInput; status?: number; notice?: Notice },
  ): void {
    const formToken = formTokens.issue(request, response);
    const content = rollApiKeyPage({ ...shown, view: visit.view, formToken, now: now() });
    const title = `Roll ${shown.key.name}`;
    layout.sendPage(response, { visit, section: "api-keys", title, status: shown.status, content });
  }

  async function findKey(visit: Visit, id: unknown): Promise<ApiKey> {
    const { keys } = await options.apiKeys.listApiKeys({ caller: visit.caller });
    const key = keys.find((candidate) => candidate.id === id);
    if (!key) throw new ProblemError("page_not_found");
    return key;
  }

  return {
    list(request, response, visit) {
      const text = typeof request.query.done === "string" ? done[request.query.done] : undefined;
      return sendList(request, response, visit, { notice: text ? { kind: "done", text } : undefined });
    },

    async create(request, response, visit) {
      const input = {
        name: field(request, "name"),
        scopes: fieldValues(request, "scopes"),
        lifetime: field(request, "expires"),
      };
      if (input.scopes.length === 0) {
        return sendList(request, response, visit, { status: 400, input, scopesProblem: "Choose at least one scope." });
      }
      const expiresAt = endOf(input.lifetime, now());
      if (expiresAt === "unknown") {
        return sendList(request, response, visit, {
          status: 400,
          input,
          lifetimeProblem: "Choose when the key expires.",
        });
      }
      const newKey = { caller: visit.caller, name: input.name, scopes: input.scopes, expiresAt };
      try {
        const created = await formTokens.once(request, response, (submission) =>
          options.apiKeys.createApiKey({ ...newKey, submission }),
        );
        sendValue(response, visit, created);
      } catch (error) {
        await sendList(request, response, visit, refusalOf(error, input));
      }
    },

    async askToRoll(request, response, visit) {
      const key = await findKey(visit, request.params.key_id);
      sendRoll(request, response, visit, { key, input: initialRollInput(key) });
    },

    async roll(request, response, visit) {
      const keyId = String(request.params.key_id);
      const input = { overlap: field(request, "overlap"), lifetime: field(request, "expires") };
      const [overlap, expiresAt] = [overlapSeconds(input.overlap), endOf(input.lifetime, now())];
      if (overlap === undefined || expiresAt === "unknown") {
        const notice: Notice = {
          kind: "problem",
          text: "Nothing was changed. Choose how long the current key works and when the new one expires.",
        };
        return sendRoll(request, response, visit, { key: await findKey(visit, keyId), input, status: 400, notice });
      }
      const newKey = { caller: visit.caller, keyId, overlapSeconds: overlap, expiresAt };
      try {
        const rolled = await formTokens.once(request, response, (submission) =>
          options.apiKeys.rollApiKey({ ...newKey, submission }),
        );
        sendValue(response, visit, rolled);
      } catch (error) {
        const { status, notice } = refusalOf(error);
        sendRoll(request, response, visit, { key: await findKey(visit, keyId), input, status, notice });
      }
    },

    async askToRevoke(request, response, visit) {
      const key = await findKey(visit, request.params.key_id);
      const content = revokeApiKeyPage({ view: visit.view, key });
      layout.sendPage(response, { visit, section: "api-keys", title: `Revoke ${key.name}`, content });
    },

    async revoke(request, response, visit) {
      await options.apiKeys.revokeApiKey({ caller: visit.caller, keyId: String(request.params.key_id) });
      response.redirect(303, `${visit.view.path}/api-keys?done=revoked`);
    },
  };
}

/** Returns a refusal that the user can correct or should know. Other errors are thrown as they are. */
function refusalOf(error: unknown, input?: NewKeyInput): Refusal {
  if (error instanceof FormUsedError) {
    const text =
      "This form was already sent, so no other key was created. The value of a key is shown only once. If you did not save it, revoke that key and create a new one.";
    return { status: 409, notice: { kind: "problem", text } };
  }
  if (!(error instanceof ServiceError)) throw error;
  if (error.code === "limit_exceeded" || error.code === "forbidden") {
    return { status: 403, input, notice: { kind: "problem", text: error.message } };
  }
  if (error.code !== "invalid_request") throw error;
  const problem = (path: string) => {
    const message = error.details.find((detail) => detail.path === path)?.message;
    return message && `The ${path === "name" ? "name" : "choice"} ${message}.`;
  };
  const problems = { nameProblem: problem("name"), scopesProblem: problem("scopes") };
  const hasField = problems.nameProblem !== undefined || problems.scopesProblem !== undefined;
  return { status: 400, input, ...problems, ...(!hasField && { notice: { kind: "problem", text: error.message } }) };
}
