import type { ApiKey } from "@vvs/proto/account/v1/api_keys";
import type { Request, Response } from "express";
import { field, fieldValues } from "../http/form.ts";
import { FormUsedError } from "../http/form-token.ts";
import { ProblemError } from "../http/problem.ts";
import { hasRecentPassword } from "../http/recent-password.ts";
import { fieldProblem, isRefusal } from "../http/refusal.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import { firstCall } from "../overview/first-call.ts";
import type { PageContext } from "../page-context.ts";
import { noticeOf, problemNotice } from "../ui/notices.ts";
import type { Notice } from "../ui/parts.ts";
import {
  apiKeyCreatedPage,
  initialRollInput,
  type RollInput,
  revokeApiKeyPage,
  rollApiKeyPage,
} from "./api-key-pages.ts";
import { apiKeysPage, type NewKeyInput, type NewKeyProblems } from "./api-keys-page.ts";
import { endOf, overlapSeconds } from "./key-lifetime.ts";

/** Why no key was created; shown above the list. */
interface Refusal {
  readonly status?: number;
  readonly input?: NewKeyInput;
  readonly notice?: Notice;
  readonly problems?: NewKeyProblems;
}

const notices = {
  confirmed: "Your identity is confirmed. You can now create and roll API keys.",
  revoked: "The API key was revoked. It stops working everywhere within 5 seconds.",
};

export function createApiKeyHandlers({ apiKeys, layout, formTokens, apiBaseUrl, now }: PageContext) {
  async function sendList(request: Request, response: Response, visit: Visit, shown: Refusal): Promise<void> {
    const { keys } = await apiKeys.listApiKeys({ caller: visit.caller });
    const formToken = formTokens.issue(request, response);
    const mayCreate = hasRecentPassword(visit.session, now());
    const content = apiKeysPage({ ...shown, visit, keys, formToken, now: now(), mayCreate });
    layout.sendPage(response, { visit, section: "api-keys", title: "API keys", status: shown.status, content });
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
    const { keys } = await apiKeys.listApiKeys({ caller: visit.caller });
    const key = keys.find((candidate) => candidate.id === id);
    if (!key) throw new ProblemError("page_not_found");
    return key;
  }

  return {
    list: (request, response, visit) => sendList(request, response, visit, { notice: noticeOf(request, notices) }),

    async create(request, response, visit) {
      const input = {
        name: field(request, "name"),
        scopes: fieldValues(request, "scopes"),
        lifetime: field(request, "expires"),
      };
      const refuse = (problems: NewKeyProblems) => sendList(request, response, visit, { status: 400, input, problems });
      if (input.scopes.length === 0) return refuse({ scopes: "Choose at least one scope." });
      const expiresAt = endOf(input.lifetime, now());
      if (expiresAt === "unknown") return refuse({ lifetime: "Choose when the key expires." });
      const newKey = { ...visit.bySession, name: input.name, scopes: input.scopes, expiresAt };
      try {
        const created = await formTokens.once(request, response, (submission) =>
          apiKeys.createApiKey({ ...newKey, submission }),
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
        const notice = problemNotice(
          "Nothing was changed. Choose how long the current key works and when the new one expires.",
        );
        return sendRoll(request, response, visit, { key: await findKey(visit, keyId), input, status: 400, notice });
      }
      const newKey = { ...visit.bySession, keyId, overlapSeconds: overlap, expiresAt };
      try {
        const rolled = await formTokens.once(request, response, (submission) =>
          apiKeys.rollApiKey({ ...newKey, submission }),
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
      await apiKeys.revokeApiKey({ ...visit.bySession, keyId: String(request.params.key_id) });
      response.redirect(303, `${visit.view.path}/api-keys?done=revoked`);
    },
  } satisfies PageHandlers;
}

/** Returns a refusal that the user can correct or should know. Other errors are thrown as they are. */
function refusalOf(error: unknown, input?: NewKeyInput): Refusal {
  if (error instanceof FormUsedError) {
    const text =
      "This form was already sent, so no other key was created. The value of a key is shown only once. If you did not save it, revoke that key and create a new one.";
    return { status: 409, notice: problemNotice(text) };
  }
  if (isRefusal(error, "limit_exceeded", "forbidden")) {
    return { status: 403, input, notice: problemNotice(error.message) };
  }
  const [name, scopes] = [fieldProblem(error, "name"), fieldProblem(error, "scopes")];
  const problems = { name: name && `The name ${name}.`, scopes: scopes && `The choice ${scopes}.` };
  const notice = name || scopes ? undefined : problemNotice((error as Error).message);
  return { status: 400, input, problems, notice };
}
