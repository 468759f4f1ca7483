import { ServiceError } from "@vvs/errors";
import type { AccountService, ApiKey } from "@vvs/proto/account/v1/account";
import type { Client } from "@vvs/rpc";
import { toProtoCaller } from "@vvs/tenant";
import type { Request, Response } from "express";
import { firstCall } from "./first-call.ts";
import { field, fieldValues } from "./http/form.ts";
import { type FormTokens, FormUsedError } from "./http/form-token.ts";
import { ProblemError } from "./http/problem.ts";
import { isRecent } from "./http/recently.ts";
import type { PageHandler, Visit } from "./http/session.ts";
import { endOf, overlapSeconds } from "./key-lifetime.ts";
import { apiKeyCreatedPage } from "./pages/api-key-created.ts";
import { apiKeysPage, type NewKeyInput } from "./pages/api-keys.ts";
import type { Layout } from "./pages/layout.ts";
import type { Notice } from "./pages/parts.ts";
import { revokeApiKeyPage } from "./pages/revoke-api-key.ts";
import { type RollInput, rollApiKeyPage, untouchedRoll } from "./pages/roll-api-key.ts";

type Account = Pick<Client<typeof AccountService>, "listApiKeys" | "createApiKey" | "rollApiKey" | "revokeApiKey">;

export interface ApiKeyHandlers {
  readonly list: PageHandler;
  readonly create: PageHandler;
  readonly askToRoll: PageHandler;
  readonly roll: PageHandler;
  readonly askToRevoke: PageHandler;
  readonly revoke: PageHandler;
}

/** A key whose value is shown this once, and the one whose place it took, if any. */
interface NewKey {
  readonly key?: ApiKey;
  readonly value: string;
  readonly rolled?: ApiKey;
}

/** Why the list is shown instead of a new key. */
interface Refusal {
  readonly status: number;
  readonly input?: NewKeyInput;
  readonly notice?: Notice;
  readonly nameProblem?: string;
  readonly scopesProblem?: string;
  readonly lifetimeProblem?: string;
}

const done: Readonly<Record<string, string>> = {
  confirmed: "Your identity is confirmed. You can create and roll keys now.",
  revoked: "The key is revoked.",
};

export function createApiKeyHandlers(options: {
  account: Account;
  layout: Layout;
  formTokens: FormTokens;
  apiBaseUrl: URL;
  now: () => Date;
}): ApiKeyHandlers {
  const { account, layout, formTokens, now } = options;

  async function sendList(
    request: Request,
    response: Response,
    visit: Visit,
    shown: Partial<Refusal> = {},
  ): Promise<void> {
    const { keys } = await account.listApiKeys({ caller: toProtoCaller(visit.caller) });
    const formToken = formTokens.issue(request, response);
    layout.sendPage(response, {
      visit,
      section: "api-keys",
      title: "API keys",
      status: shown.status,
      content: apiKeysPage({ ...shown, visit, keys, formToken, now: now(), mayCreate: isRecent(visit.session, now()) }),
    });
  }

  function sendValue(response: Response, visit: Visit, { key, value, rolled }: NewKey): void {
    const { environment } = visit.view;
    const call = firstCall({ baseUrl: options.apiBaseUrl, key: value, environment, scopes: key!.scopes });
    const content = apiKeyCreatedPage({ view: visit.view, key: key!, value, firstCall: call, rolled });
    layout.sendPage(response, { visit, section: "api-keys", title: "Your key is ready", content });
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
    const { keys } = await account.listApiKeys({ caller: toProtoCaller(visit.caller) });
    const key = keys.find((candidate) => candidate.id === id);
    if (!key) throw new ProblemError("no_page");
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
        return sendList(request, response, visit, { status: 400, input, scopesProblem: "Pick at least one scope." });
      }
      const expiresAt = endOf(input.lifetime, now());
      if (expiresAt === "unknown") {
        return sendList(request, response, visit, { status: 400, input, lifetimeProblem: "Pick one of these." });
      }
      const wanted = { caller: toProtoCaller(visit.caller), name: input.name, scopes: input.scopes, expiresAt };
      try {
        const created = await formTokens.once(request, response, (submission) =>
          account.createApiKey({ ...wanted, submission }),
        );
        sendValue(response, visit, created);
      } catch (error) {
        await sendList(request, response, visit, refusalOf(error, input));
      }
    },

    async askToRoll(request, response, visit) {
      const key = await findKey(visit, request.params.key_id);
      sendRoll(request, response, visit, { key, input: untouchedRoll(key) });
    },

    async roll(request, response, visit) {
      const keyId = String(request.params.key_id);
      const input = { overlap: field(request, "overlap"), lifetime: field(request, "expires") };
      const [overlap, expiresAt] = [overlapSeconds(input.overlap), endOf(input.lifetime, now())];
      if (overlap === undefined || expiresAt === "unknown") {
        const notice: Notice = { kind: "problem", text: "Nothing was changed: pick one of the choices each." };
        return sendRoll(request, response, visit, { key: await findKey(visit, keyId), input, status: 400, notice });
      }
      const wanted = { caller: toProtoCaller(visit.caller), keyId, overlapSeconds: overlap, expiresAt };
      try {
        const rolled = await formTokens.once(request, response, (submission) =>
          account.rollApiKey({ ...wanted, submission }),
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
      await account.revokeApiKey({ caller: toProtoCaller(visit.caller), keyId: String(request.params.key_id) });
      response.redirect(303, `${visit.view.path}/api-keys?done=revoked`);
    },
  };
}

/** What the user can put right, or has to know. Errors: all others, as they are. */
function refusalOf(error: unknown, input?: NewKeyInput): Refusal {
  if (error instanceof FormUsedError) {
    const text = "This form was sent before, so nothing was created now. A key’s value is shown only once.";
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
  const named = { nameProblem: problem("name"), scopesProblem: problem("scopes") };
  const isNamed = named.nameProblem !== undefined || named.scopesProblem !== undefined;
  return { status: 400, input, ...named, ...(!isNamed && { notice: { kind: "problem", text: error.message } }) };
}
