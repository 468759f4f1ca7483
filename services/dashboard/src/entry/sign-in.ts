import type { ServiceError } from "@vvs/errors";
import type { RequestHandler, Response } from "express";
import { clearCookie, readCookie, shortHash, writeTabCookie } from "../http/cookies.ts";
import { field, queryValue } from "../http/form.ts";
import { nextPath } from "../http/next-path.ts";
import { isRefusal, refusalNotice } from "../http/refusal.ts";
import { browserOf, deviceToken, endSession, whileConnected } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import { problemNotice } from "../ui/notices.ts";
import { createShowSignIn } from "./show-sign-in.ts";
import { secondStepPage } from "./sign-in-page.ts";
import { mailSentPage } from "./sign-up-page.ts";

/** The same text for every cause, so that it does not reveal which addresses have an account. */
const WRONG = "The email address or the password is wrong.";
/** As long as the account service waits for the second step. */
const SECOND_STEP_MS = 5 * 60_000;

export function createSignIn(context: PageContext) {
  const { sessions, layout, beginSession, now } = context;
  const send = createShowSignIn(context);

  /** Answers a right password for a sign-up that is not confirmed yet. */
  function sendUnconfirmed(response: Response, email: string): void {
    const notice = problemNotice("You are not signed in, because this email address is not confirmed yet.");
    const content = mailSentPage({ email, notice });
    layout.sendBarePage(response, { title: "Confirm your email address", status: 403, content });
  }

  function sendCodePage(response: Response, shown: { next: string; step: string }, error?: ServiceError): void {
    const content = secondStepPage({ ...shown, notice: error && refusalNotice(response, error) });
    layout.sendBarePage(response, { title: "Enter a code", status: error && statusOf(error), content });
  }

  return {
    async show(request, response) {
      const { signed_out: signedOut, done } = request.query;
      const changed = done === "password" && "Your password was changed. Sign in with the new password.";
      const text = changed || (signedOut === undefined ? undefined : "You have signed out.");
      const next = nextPath(queryValue(request, "next"));
      await send(response, { next, email: "", notice: text ? { kind: "done", text } : undefined });
    },

    async signIn(request, response) {
      const email = field(request, "email");
      const next = nextPath(field(request, "next"));
      try {
        const password = field(request, "password");
        const typed = { email, password, deviceToken: deviceToken(request), ...browserOf(request) };
        const signedIn = await sessions.signIn(typed, whileConnected(response));
        if (signedIn.emailUnconfirmed) return sendUnconfirmed(response, email);
        if (signedIn.secondStepToken) {
          const until = new Date(now().getTime() + SECOND_STEP_MS);
          const step = shortHash(signedIn.secondStepToken);
          writeTabCookie(request, response, `__Host-second-step-${step}`, signedIn.secondStepToken, until);
          response.redirect(303, `/sign-in/code?step=${step}&next=${encodeURIComponent(next)}`);
          return;
        }
        await beginSession(request, response, signedIn);
        response.redirect(303, next);
      } catch (error) {
        if (!isSignInRefusal(error)) throw error;
        const refusal = refusalNotice(response, error);
        // "forbidden": the password is right, but the organization requires another way to sign in.
        const notice = isRefusal(error, "rate_limited", "forbidden") ? refusal : problemNotice(WRONG);
        await send(response, { next, email, notice, status: statusOf(error) });
      }
    },

    /** Shows the second step, for users with an authenticator app. */
    askForCode(request, response) {
      sendCodePage(response, { next: nextPath(queryValue(request, "next")), step: queryValue(request, "step") });
    },

    async finish(request, response) {
      const [next, step] = [nextPath(field(request, "next")), field(request, "step")];
      const cookie = `__Host-second-step-${step}` as const;
      try {
        const finished = await sessions.finishSignIn({
          secondStepToken: readCookie(request, cookie),
          code: field(request, "code"),
          deviceToken: deviceToken(request),
          ...browserOf(request),
        });
        clearCookie(response, cookie);
        await beginSession(request, response, finished);
        response.redirect(303, next);
      } catch (error) {
        if (!isSignInRefusal(error)) throw error;
        sendCodePage(response, { next, step }, error);
      }
    },

    async signOut(request, response) {
      // The browser forgets the session first, even if the account service can't end it now.
      clearCookie(response, "__Host-session");
      await endSession(sessions, request);
      response.redirect(303, "/sign-in?signed_out");
    },
  } satisfies Record<string, RequestHandler>;
}

function isSignInRefusal(error: unknown): error is ServiceError {
  return isRefusal(error, "unauthorized", "forbidden", "rate_limited", "invalid_request");
}

function statusOf({ code }: ServiceError): number {
  return code === "rate_limited" ? 429 : 401;
}
