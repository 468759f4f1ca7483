import { timestampDate } from "@bufbuild/protobuf/wkt";
import { catalogue } from "@vvs/errors";
import type { FindIdentityProviderResponse, IdentityProvider } from "@vvs/proto/account/v1/single_sign_on";
import type { Request, RequestHandler, Response } from "express";
import { clearCookie, readCookie, shortHash, writeTabCookie } from "../http/cookies.ts";
import { field, queryValue } from "../http/form.ts";
import { type Html, html } from "../http/html.ts";
import { nextPath } from "../http/next-path.ts";
import { isRefusal, refusalNotice } from "../http/refusal.ts";
import { browserOf } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";
import { emailField } from "../ui/fields.ts";
import { problemNotice } from "../ui/parts.ts";

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
    const { next, email } = input;
    const content = html`<form method="post" action="/sign-in/sso">
  <input type="hidden" name="next" value="${next}">
  ${emailField({ label: "Work email address", value: email, hint: "You continue on your organization’s sign-in page, and come back here afterwards.", autofocus: true })}
  <p class="choices"><button>Continue</button> <a class="button quiet" href="/sign-in?next=${encodeURIComponent(next)}">Use a password</a></p>
</form>`;
    const shown = problem === undefined ? {} : { notice: problemNotice(problem), status };
    layout.sendCard(response, { title: "Single sign-on", ...shown, content });
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
      // The security policy lets no form leave the dashboard, so a Refresh header or the link leads there.
      const [path, heading] = [singleSignOnPath(provider, next), `Continue to ${provider.name}`];
      response.set("refresh", `0; url=${path}`);
      const content = html`<p>You are being redirected to ${provider.name} to sign in. If nothing happens, select the button.</p>
<p><a class="button" href="${path}">${heading}</a></p>`;
      layout.sendCard(response, { title: "Single sign-on", heading, content });
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

/** The single sign-on options that the sign-in page offers. */
export type SingleSignOnChoices = Pick<FindIdentityProviderResponse, "providers" | "isUsed">;

/** Renders the single sign-on buttons of the sign-in page; nothing if no organization uses single sign-on. */
export function singleSignOnChoices({ providers, isUsed }: SingleSignOnChoices, next: string): Html | undefined {
  if (!isUsed) return undefined;
  return html`${providers.map((provider) => html`<p><a class="button quiet wide" href="${singleSignOnPath(provider, next)}">Sign in with ${provider.name}</a></p>`)}
<p><a class="button quiet wide" href="/sign-in/sso?next=${encodeURIComponent(next)}">Sign in with single sign-on</a></p>`;
}

/** Returns the path that begins single sign-on with a provider. */
function singleSignOnPath({ id }: Pick<IdentityProvider, "id">, next: string): string {
  return `/sign-in/sso/${id}?next=${encodeURIComponent(next)}`;
}
