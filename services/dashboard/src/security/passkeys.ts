import { timestampDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import type { PasskeyService } from "@vvs/proto/account/v1/passkeys";
import type { Client } from "@vvs/rpc";
import type { Request, RequestHandler, Response } from "express";
import type { BeginSession } from "../entry/sign-in.ts";
import { clearCookie, readCookie, writeCookie } from "../http/cookies.ts";
import { field, queryValue } from "../http/form.ts";
import { nextPath } from "../http/next-path.ts";
import { type PageHandler, sessionCaller, type Visit } from "../http/session.ts";
import { browserName } from "../ui/browser-name.ts";
import type { Layout } from "../ui/layout.ts";
import { addPasskeyPage, passkeyConfirmPage, passkeySignInPage } from "./passkeys-page.ts";

/** How long the account service waits for the browser's answer. */
const CEREMONY_MS = 5 * 60_000;

export interface PasskeyHandlers {
  readonly ask: PageHandler;
  readonly add: PageHandler;
  readonly remove: PageHandler;
  readonly askToConfirm: PageHandler;
  readonly confirm: PageHandler;
  readonly askToSignIn: RequestHandler;
  readonly signIn: RequestHandler;
}

/** Creates the handlers for adding, removing and signing in with passkeys. */
export function createPasskeyHandlers(options: {
  passkeys: Client<typeof PasskeyService>;
  layout: Layout;
  beginSession: BeginSession;
  now: () => Date;
}): PasskeyHandlers {
  const { passkeys, layout, beginSession, now } = options;

  async function sendAdd(
    request: Request,
    response: Response,
    visit: Visit,
    shown: { name: string; problem?: string; nameProblem?: string },
  ): Promise<void> {
    const { optionsJson } = await passkeys.beginPasskeyRegistration({ caller: sessionCaller(request, response) });
    const isRefused = shown.problem !== undefined || shown.nameProblem !== undefined;
    layout.sendPage(response, {
      visit,
      section: "security",
      title: "Add a passkey",
      status: isRefused ? 400 : 200,
      content: addPasskeyPage({ ...shown, base: visit.view.path, optionsJson }),
      script: "passkeys.js",
    });
  }

  async function sendConfirm(
    request: Request,
    response: Response,
    visit: Visit,
    shown: { next: string; problem?: string },
  ): Promise<void> {
    const { optionsJson } = await passkeys.beginPasskeyReauthentication({ caller: sessionCaller(request, response) });
    const { email } = visit.session;
    layout.sendPage(response, {
      visit,
      section: "security",
      title: "Confirm with a passkey",
      status: shown.problem ? 400 : 200,
      content: passkeyConfirmPage({ ...shown, base: visit.view.path, email, optionsJson }),
      script: "passkeys.js",
    });
  }

  async function sendSignIn(
    request: Request,
    response: Response,
    shown: { next: string; problem?: string },
  ): Promise<void> {
    const ceremony = await passkeys.beginPasskeySignIn({ clientAddress: request.ip ?? "" });
    writeCookie(response, "__Host-passkey", ceremony.ceremonyToken, new Date(now().getTime() + CEREMONY_MS));
    layout.sendBarePage(response, {
      title: "Sign in with a passkey",
      status: shown.problem ? 401 : 200,
      content: passkeySignInPage({ ...shown, optionsJson: ceremony.optionsJson }),
      script: "passkeys.js",
    });
  }

  return {
    ask: (request, response, visit) =>
      sendAdd(request, response, visit, { name: browserName(request.headers["user-agent"] ?? "") }),

    async add(request, response, visit) {
      const name = field(request, "name");
      const caller = sessionCaller(request, response);
      try {
        await passkeys.addPasskey({ caller, name, responseJson: field(request, "response") });
        response.redirect(303, `${visit.view.path}/security?done=passkey-added`);
      } catch (error) {
        const nameProblem = problemOf(error, "name");
        const problem = nameProblem
          ? undefined
          : "No passkey was added, because your browser’s answer did not fit this page or came too late. Try again.";
        await sendAdd(request, response, visit, {
          name,
          ...(problem ? { problem } : { nameProblem: `The name ${nameProblem}.` }),
        });
      }
    },

    async remove(request, response, visit) {
      const passkeyId = field(request, "passkey_id");
      await passkeys.removePasskey({ caller: sessionCaller(request, response), passkeyId });
      response.redirect(303, `${visit.view.path}/security?done=passkey-removed`);
    },

    askToConfirm: (request, response, visit) =>
      sendConfirm(request, response, visit, { next: nextPath(queryValue(request, "next")) }),

    async confirm(request, response, visit) {
      const next = nextPath(field(request, "next"));
      const caller = sessionCaller(request, response);
      try {
        const renewed = await passkeys.reauthenticateWithPasskey({ caller, responseJson: field(request, "response") });
        writeCookie(response, "__Host-session", renewed.sessionToken, timestampDate(renewed.session!.expiresAt!));
        response.redirect(303, `${next}?done=confirmed`);
      } catch (error) {
        const problem = `This ${problemOf(error, "response")}.`;
        await sendConfirm(request, response, visit, { next, problem });
      }
    },

    askToSignIn: (request, response) => sendSignIn(request, response, { next: nextPath(queryValue(request, "next")) }),

    async signIn(request, response) {
      const next = nextPath(field(request, "next"));
      try {
        const newSession = await passkeys.signInWithPasskey({
          ceremonyToken: readCookie(request, "__Host-passkey"),
          responseJson: field(request, "response"),
          clientAddress: request.ip ?? "",
          userAgent: request.headers["user-agent"] ?? "",
        });
        clearCookie(response, "__Host-passkey");
        await beginSession(request, response, newSession);
        response.redirect(303, next);
      } catch (error) {
        if (!(error instanceof ServiceError) || !isRefusal(error)) throw error;
        await sendSignIn(request, response, { next, problem: error.message });
      }
    },
  };
}

function isRefusal({ code }: ServiceError): boolean {
  return code === "unauthorized" || code === "forbidden";
}

/** Returns the problem of a field; undefined if it has none. Errors that are not about fields are thrown as they are. */
function problemOf(error: unknown, path: string): string | undefined {
  if (!(error instanceof ServiceError) || error.code !== "invalid_request") throw error;
  return error.details.find((detail) => detail.path === path)?.message;
}
