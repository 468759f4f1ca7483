import type { ServiceError } from "@vvs/errors";
import type { RequestHandler, Response } from "express";
import { clearCookie, readCookie, shortHash, writeTabCookie } from "../http/cookies.ts";
import { field, queryValue, RECEIPTS_PATH } from "../http/form.ts";
import { html } from "../http/html.ts";
import { nextPath } from "../http/next-path.ts";
import { isRefusal, refusalNotice } from "../http/refusal.ts";
import { browserOf, deviceToken, endSession, whileConnected } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";
import { emailField, input, passwordField } from "../ui/fields.ts";
import type { Notice } from "../ui/parts.ts";
import { problemNotice } from "../ui/parts.ts";
import { sendMailSent } from "./sign-up.ts";
import { readChoices, singleSignOnChoices } from "./single-sign-on.ts";

/** The same text for every cause, so that it does not reveal which addresses have an account. */
const WRONG = "The email address or the password is wrong.";
/** As long as the account service waits for the second step. */
const SECOND_STEP_MS = 5 * 60_000;

/** Sends the sign-in page, from which signing in leads to `next`. */
export type ShowSignIn = ReturnType<typeof createShowSignIn>;

export function createSignIn({ sessions, layout, beginSession, now }: PageContext, send: ShowSignIn) {
  function sendCodePage(
    response: Response,
    { next, step }: Record<"next" | "step", string>,
    error?: ServiceError,
  ): void {
    const content = html`<form method="post" action="/sign-in/code">
  <input type="hidden" name="next" value="${next}">
  <input type="hidden" name="step" value="${step}">
  ${input({
    name: "code",
    label: "Code",
    attributes: html` autocomplete="one-time-code" autocapitalize="off" spellcheck="false" required maxlength="40" autofocus`,
    value: "",
    hint: "Enter the six digits that your authenticator app shows now, or one of your recovery codes. You have 5 minutes.",
  })}
  <p class="choices"><button>Sign in</button> <a class="button quiet" href="/sign-in?next=${encodeURIComponent(next)}">Start again</a></p>
</form>`;
    const [notice, status] = error ? [refusalNotice(response, error), statusOf(error)] : [];
    layout.sendCard(response, { title: "Enter a code", status, notice, content });
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
        if (signedIn.emailUnconfirmed) {
          const text = "You are not signed in, because this email address is not confirmed yet.";
          return sendMailSent(layout, response, email, { notice: problemNotice(text), status: 403 });
        }
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

/** Creates the function that sends the sign-in page. */
export function createShowSignIn(context: PageContext) {
  const { entry, layout } = context;

  async function readOffered() {
    const [ways, singleSignOn] = await Promise.all([
      // While the account service is unavailable, the page has no links.
      entry.getEntryOptions({}).catch(() => ({ signUpOpen: false, mailSent: false })),
      readChoices(context),
    ]);
    return { ways, singleSignOn };
  }
  let last: Awaited<ReturnType<typeof readOffered>> | undefined;

  return async (
    response: Response,
    shown: { next: string; email: string; notice: Notice | undefined; status?: number },
  ): Promise<void> => {
    const { next, email, notice, status } = shown;
    // A flood of attempts that are refused must not cost further calls.
    last = status === 429 && last ? last : await readOffered();
    const { ways, singleSignOn } = last;
    const content = html`<form method="post" action="/sign-in">
  <input type="hidden" name="next" value="${next}">
  ${emailField({ value: email, autofocus: !email })}
  ${passwordField({ name: "password", label: "Password", autocomplete: "current-password", autofocus: !!email })}
  <p class="choices"><button>Sign in</button>${ways.mailSent && html` <a href="/forgot-password">Forgot your password?</a>`}</p>
</form>
<p class="or"><span>or</span></p>
<p><a class="button quiet wide" href="/sign-in/passkey?next=${encodeURIComponent(next)}">Sign in with a passkey</a></p>
${singleSignOn && singleSignOnChoices(singleSignOn, next)}
${ways.signUpOpen && html`<p>New here? <a href="/sign-up">Create an account</a></p>`}
<p class="hint"><a href="${RECEIPTS_PATH}">Check a receipt</a> that somebody gave you. It needs no account.</p>`;
    layout.sendCard(response, { title: "Sign in", status, notice, content });
  };
}
