import type { Request, RequestHandler, Response } from "express";
import { createShowSignIn } from "../entry/show-sign-in.ts";
import { clearCookie, readCookie, shortHash, writeTabCookie } from "../http/cookies.ts";
import { field, queryValue } from "../http/form.ts";
import { nextPath } from "../http/next-path.ts";
import { fieldProblem, isRefusal, refusalNotice } from "../http/refusal.ts";
import { browserOf, keepSession, type PageHandlers, sessionCaller, type Visit } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import { browserName } from "../ui/browser-name.ts";
import { addPasskeyPage, passkeyConfirmPage, passkeySignInPage } from "./passkeys-page.ts";

/** How long the account service waits for the browser's answer. */
const CEREMONY_MS = 5 * 60_000;

/** Creates the handlers for adding, removing and confirming with passkeys, and those for signing in with one. */
export function createPasskeyHandlers(context: PageContext) {
  const { passkeys, layout, beginSession, now } = context;
  const showSignIn = createShowSignIn(context);

  async function sendAdd(
    request: Request,
    response: Response,
    visit: Visit,
    shown: { name: string; problem?: string; nameProblem?: string },
  ): Promise<void> {
    const { optionsJson } = await passkeys.beginPasskeyRegistration({ caller: sessionCaller(request, response) });
    layout.sendPage(response, {
      visit,
      section: "security",
      title: "Add a passkey",
      status: shown.problem || shown.nameProblem ? 400 : 200,
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

  /** Answers too many attempts with the other ways to sign in. Other errors are thrown as they are. */
  async function refuseSignIn(response: Response, next: string, error: unknown): Promise<void> {
    if (!isRefusal(error, "rate_limited")) throw error;
    await showSignIn(response, { next, email: "", notice: refusalNotice(response, error), status: 429 });
  }

  async function sendSignIn(
    request: Request,
    response: Response,
    shown: { next: string; problem?: string },
  ): Promise<void> {
    try {
      const { ceremonyToken, optionsJson } = await passkeys.beginPasskeySignIn({ clientAddress: request.ip ?? "" });
      const [ceremony, until] = [shortHash(ceremonyToken), new Date(now().getTime() + CEREMONY_MS)];
      writeTabCookie(request, response, `__Host-passkey-${ceremony}`, ceremonyToken, until);
      layout.sendBarePage(response, {
        title: "Sign in with a passkey",
        status: shown.problem ? 401 : 200,
        content: passkeySignInPage({ ...shown, ceremony, optionsJson }),
        script: "passkeys.js",
      });
    } catch (error) {
      await refuseSignIn(response, shown.next, error);
    }
  }

  const pages = {
    ask: (request, response, visit) =>
      sendAdd(request, response, visit, { name: browserName(request.headers["user-agent"] ?? "") }),

    async add(request, response, visit) {
      const name = field(request, "name");
      const caller = sessionCaller(request, response);
      try {
        await passkeys.addPasskey({ caller, name, responseJson: field(request, "response") });
        response.redirect(303, `${visit.view.path}/security?done=passkey-added`);
      } catch (error) {
        const nameProblem = fieldProblem(error, "name");
        const problem =
          "No passkey was added, because your browser’s answer did not fit this page or came too late. Try again.";
        const shown = nameProblem ? { nameProblem: `The name ${nameProblem}.` } : { problem };
        await sendAdd(request, response, visit, { name, ...shown });
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
        const responseJson = field(request, "response");
        keepSession(response, await passkeys.reauthenticateWithPasskey({ caller, responseJson }));
        response.redirect(303, `${next}?done=confirmed`);
      } catch (error) {
        const problem = `This ${fieldProblem(error, "response")}.`;
        await sendConfirm(request, response, visit, { next, problem });
      }
    },
  } satisfies PageHandlers;

  const entry = {
    askToSignIn: (request, response) => sendSignIn(request, response, { next: nextPath(queryValue(request, "next")) }),

    async signIn(request, response) {
      const next = nextPath(field(request, "next"));
      const cookie = `__Host-passkey-${field(request, "ceremony")}` as const;
      try {
        const newSession = await passkeys.signInWithPasskey({
          ceremonyToken: readCookie(request, cookie),
          responseJson: field(request, "response"),
          ...browserOf(request),
        });
        clearCookie(response, cookie);
        await beginSession(request, response, newSession);
        response.redirect(303, next);
      } catch (error) {
        if (!isRefusal(error, "unauthorized", "forbidden")) return refuseSignIn(response, next, error);
        await sendSignIn(request, response, { next, problem: error.message });
      }
    },
  } satisfies Record<string, RequestHandler>;

  return { ...pages, ...entry };
}
