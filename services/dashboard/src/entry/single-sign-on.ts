import { timestampDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import type { Logger } from "@vvs/logging";
import type { SessionService } from "@vvs/proto/account/v1/sessions";
import type { SingleSignOnService } from "@vvs/proto/account/v1/single_sign_on";
import type { Client } from "@vvs/rpc";
import type { Request, RequestHandler, Response } from "express";
import { clearCookie, readCookie, writeCookie } from "../http/cookies.ts";
import { field, queryValue } from "../http/form.ts";
import { nextPath } from "../http/next-path.ts";
import { logUser } from "../http/session.ts";
import type { Layout } from "../ui/layout.ts";
import { redirectPage, type SingleSignOnChoices, singleSignOnPage, singleSignOnPath } from "./single-sign-on-page.ts";

type Providers = Client<typeof SingleSignOnService>;

export interface SingleSignOnHandlers {
  readonly ask: RequestHandler;
  /** Finds the identity provider for an email address. */
  readonly find: RequestHandler;
  /** Sends the browser to an identity provider. */
  readonly begin: RequestHandler;
  /** Signs in a browser that an identity provider sent back. */
  readonly finish: RequestHandler;
}

/** Creates a function that returns the single sign-on options to offer; undefined while they can't be read. */
export function createReadChoices(options: { singleSignOn: Pick<Providers, "findIdentityProvider">; logger: Logger }) {
  return async (): Promise<SingleSignOnChoices | undefined> => {
    try {
      return await options.singleSignOn.findIdentityProvider({});
    } catch (error) {
      options.logger.warn(
        { err: error },
        "the sign-in page does not offer single sign-on: reading its providers failed",
      );
      return undefined;
    }
  };
}

/** Creates the handlers of single sign-on with the identity provider of the user's organization. */
export function createSingleSignOnHandlers(options: {
  singleSignOn: Providers;
  sessions: Pick<Client<typeof SessionService>, "signOut">;
  layout: Layout;
  /** The dashboard as browsers see it. */
  url: URL;
}): SingleSignOnHandlers {
  const { singleSignOn, layout, url } = options;

  function send(response: Response, input: { next: string; email: string }, problem?: string, status = 400): void {
    layout.sendBarePage(response, {
      title: "Single sign-on",
      status: problem ? status : 200,
      content: singleSignOnPage({ ...input, problem }),
    });
  }

  /** Shows a refusal that is meant for the user. Other errors are thrown as they are. */
  function refuse(response: Response, next: string, error: unknown): void {
    if (!(error instanceof ServiceError)) throw error;
    const statuses: Readonly<Record<string, number>> = { unauthorized: 401, service_unavailable: 503, not_found: 404 };
    const status = statuses[error.code];
    if (!status) throw error;
    send(response, { next, email: "" }, error.message, status);
  }

  return {
    ask(request, response) {
      send(response, { next: nextOf(request), email: "" });
    },

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

    async begin(request, response) {
      const providerId = request.params.provider_id as string;
      const next = nextOf(request);
      try {
        const { authorizationUrl, browserToken, expiresAt } = await singleSignOn.beginSingleSignOn({
          providerId,
          redirectUri: new URL(`/sign-in/sso/${encodeURIComponent(providerId)}/callback`, url).href,
          next,
          again: request.query.again !== undefined,
        });
        writeCookie(response, "__Host-single-sign-on", browserToken, timestampDate(expiresAt!));
        response.redirect(303, authorizationUrl);
      } catch (error) {
        refuse(response, next, error);
      }
    },

    async finish(request, response) {
      const browserToken = readCookie(request, "__Host-single-sign-on") ?? "";
      clearCookie(response, "__Host-single-sign-on");
      try {
        const newSession = await singleSignOn.finishSingleSignOn({
          browserToken,
          providerId: request.params.provider_id as string,
          query: new URL(request.originalUrl, url).search.slice(1),
          clientAddress: request.ip ?? "",
          userAgent: request.headers["user-agent"] ?? "",
        });
        const previousToken = readCookie(request, "__Host-session");
        if (previousToken) await options.sessions.signOut({ sessionToken: previousToken });
        logUser(response, newSession);
        writeCookie(response, "__Host-session", newSession.sessionToken, timestampDate(newSession.expiresAt!));
        response.redirect(303, nextPath(newSession.next));
      } catch (error) {
        refuse(response, nextPath(undefined), error);
      }
    },
  };
}

function nextOf(request: Request): string {
  return nextPath(queryValue(request, "next"));
}
