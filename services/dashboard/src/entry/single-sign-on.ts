import { timestampDate } from "@bufbuild/protobuf/wkt";
import { catalogue } from "@vvs/errors";
import type { Request, RequestHandler, Response } from "express";
import { clearCookie, readCookie, shortHash, writeTabCookie } from "../http/cookies.ts";
import { field, queryValue } from "../http/form.ts";
import { nextPath } from "../http/next-path.ts";
import { isRefusal, refusalNotice } from "../http/refusal.ts";
import { browserOf } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import { redirectPage, type SingleSignOnChoices, singleSignOnPage, singleSignOnPath } from "./single-sign-on-page.ts";

/** Returns the single sign-on options to offer; undefined while they can't be read. */
export async function readChoices({ singleSignOn, logger }: PageContext): Promise<SingleSignOnChoices | undefined> {
  try {
    return await singleSignOn.findIdentityProvider({});
  } catch (err) {
    logger.warn({ err }, "the sign-in page does not offer single sign-on: reading its providers failed");
    return undefined;
  }
}

/** Creates the handlers of single sign-on with the identity provider of the user's organization. */
export function createSingleSignOnHandlers({ singleSignOn, layout, url, beginSession }: PageContext) {
  function send(response: Response, input: { next: string; email: string }, problem?: string, status = 400): void {
    const content = singleSignOnPage({ ...input, problem });
    layout.sendBarePage(response, { title: "Single sign-on", status: problem ? status : 200, content });
  }

  /** Shows a refusal that is meant for the user. Other errors are thrown as they are. */
  function refuse(response: Response, next: string, error: unknown): void {
    if (!isRefusal(error, "unauthorized", "service_unavailable", "not_found", "rate_limited")) throw error;
    const { http: status } = catalogue[error.code];
    send(response, { next, email: "" }, refusalNotice(response, error).text, status);
  }

  return {
    ask(request, response) {
      send(response, { next: nextOf(request), email: "" });
    },

    /** Finds the identity provider for an email address. */
    async find(request, response) {
      const [email, next] = [field(request, "email"), nextPath(field(request, "next"))];
      const { providers } = email.includes("@")
        ? await singleSignOn.findIdentityProvider({ email })
        : { providers: [] };
      const [provider] = providers;
      if (!provider) {
        const problem = "Single sign-on is not set up for the domain of this address. Sign in with your password.";
        return send(response, { next, email }, problem);
      }
      response.set("refresh", `0; url=${singleSignOnPath(provider, next)}`);
      layout.sendBarePage(response, { title: "Single sign-on", content: redirectPage(provider, next) });
    },

    /** Sends the browser to an identity provider. */
    async begin(request, response) {
      const providerId = request.params.provider_id as string;
      const next = nextOf(request);
      try {
        const { authorizationUrl, browserToken, expiresAt } = await singleSignOn.beginSingleSignOn({
          providerId,
          redirectUri: new URL(`/sign-in/sso/${encodeURIComponent(providerId)}/callback`, url).href,
          next,
          again: request.query.again !== undefined,
          clientAddress: request.ip ?? "",
        });
        const cookie = cookieOf(new URL(authorizationUrl).searchParams.get("state") ?? "");
        writeTabCookie(request, response, cookie, browserToken, timestampDate(expiresAt!));
        response.redirect(303, authorizationUrl);
      } catch (error) {
        refuse(response, next, error);
      }
    },

    /** Signs in a browser that an identity provider sent back. */
    async finish(request, response) {
      const cookie = cookieOf(queryValue(request, "state"));
      const browserToken = readCookie(request, cookie) ?? "";
      clearCookie(response, cookie);
      try {
        const newSession = await singleSignOn.finishSingleSignOn({
          browserToken,
          providerId: request.params.provider_id as string,
          query: new URL(request.originalUrl, url).search.slice(1),
          ...browserOf(request),
        });
        await beginSession(request, response, { ...newSession, session: newSession });
        response.redirect(303, nextPath(newSession.next));
      } catch (error) {
        refuse(response, nextPath(undefined), error);
      }
    },
  } satisfies Record<string, RequestHandler>;
}

/** Returns the cookie of a sign-in by its OpenID Connect state, which the provider returns. */
function cookieOf(state: string) {
  return `__Host-single-sign-on-${shortHash(state)}` as const;
}

function nextOf(request: Request): string {
  return nextPath(queryValue(request, "next"));
}
