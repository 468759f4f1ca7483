import { timestampDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import type { Logger } from "@vvs/logging";
import type { AccountService } from "@vvs/proto/account/v1/account";
import type { SingleSignOnService } from "@vvs/proto/account/v1/single_sign_on";
import type { Client } from "@vvs/rpc";
import type { Request, RequestHandler, Response } from "express";
import { alsoLog } from "./http/access-log.ts";
import { clearCookie, readCookie, writeCookie } from "./http/cookies.ts";
import { field } from "./http/form.ts";
import { nextPath } from "./http/next-path.ts";
import { queried } from "./http/queried.ts";
import type { Layout } from "./pages/layout.ts";
import { onTheWayPage, type SingleSignOnChoices, singleSignOnPage, singleSignOnPath } from "./pages/single-sign-on.ts";

type Providers = Client<typeof SingleSignOnService>;

export interface SingleSignOnHandlers {
  readonly ask: RequestHandler;
  /** Finds the provider of an address. */
  readonly find: RequestHandler;
  /** Sends the browser to a provider. */
  readonly setOut: RequestHandler;
  /** Where providers send it back to. */
  readonly comeBack: RequestHandler;
}

/** What the sign-in page offers beside passwords; nothing while that can't be told. */
export function createReadChoices(options: { singleSignOn: Pick<Providers, "findIdentityProvider">; logger: Logger }) {
  return async (): Promise<SingleSignOnChoices | undefined> => {
    try {
      return await options.singleSignOn.findIdentityProvider({});
    } catch (error) {
      options.logger.warn({ err: error }, "the sign-in page can't offer single sign-on");
      return undefined;
    }
  };
}

/** Signing in where the user's organization does. */
export function createSingleSignOnHandlers(options: {
  singleSignOn: Providers;
  account: Pick<Client<typeof AccountService>, "signOut">;
  layout: Layout;
  /** The dashboard as browsers see it. */
  url: URL;
}): SingleSignOnHandlers {
  const { singleSignOn, account, layout, url } = options;

  function send(response: Response, input: { next: string; email: string }, problem?: string, status = 400): void {
    layout.sendBarePage(response, {
      title: "Single sign-on",
      status: problem ? status : 200,
      content: singleSignOnPage({ ...input, problem }),
    });
  }

  /** Answers with the sentence of a refusal that is for the user. */
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
        const problem = "No single sign-on is set up for the domain of this address. Use your password.";
        return send(response, { next, email }, problem);
      }
      response.set("refresh", `0; url=${singleSignOnPath(provider, next)}`);
      layout.sendBarePage(response, { title: "Single sign-on", content: onTheWayPage(provider, next) });
    },

    async setOut(request, response) {
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

    async comeBack(request, response) {
      const browserToken = readCookie(request, "__Host-single-sign-on") ?? "";
      clearCookie(response, "__Host-single-sign-on");
      try {
        const begun = await singleSignOn.finishSingleSignOn({
          browserToken,
          providerId: request.params.provider_id as string,
          query: new URL(request.originalUrl, url).search.slice(1),
          clientAddress: request.ip ?? "",
          userAgent: request.headers["user-agent"] ?? "",
        });
        const before = readCookie(request, "__Host-session");
        if (before) await account.signOut({ sessionToken: before });
        alsoLog(response, { user_id: begun.userId, organization_id: begun.organizationId });
        writeCookie(response, "__Host-session", begun.sessionToken, timestampDate(begun.expiresAt!));
        response.redirect(303, nextPath(begun.next));
      } catch (error) {
        refuse(response, nextPath(undefined), error);
      }
    },
  };
}

function nextOf(request: Request): string {
  return nextPath(queried(request, "next"));
}
