import { timestampDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import type { EntryService } from "@vvs/proto/account/v1/entry";
import type { Session, SessionService } from "@vvs/proto/account/v1/sessions";
import type { Client } from "@vvs/rpc";
import type { Request, RequestHandler, Response } from "express";
import { clearCookie, readCookie, writeCookie } from "../http/cookies.ts";
import { field, queryValue } from "../http/form.ts";
import { nextPath } from "../http/next-path.ts";
import { logUser } from "../http/session.ts";
import type { Layout } from "../ui/layout.ts";
import { secondStepPage } from "./second-step-page.ts";
import { type EntryOptions, signInPage } from "./sign-in-page.ts";
import { mailSentPage } from "./sign-up-page.ts";
import type { SingleSignOnChoices } from "./single-sign-on-page.ts";

type Sessions = Pick<Client<typeof SessionService>, "signIn" | "finishSignIn" | "signOut">;
type Entry = Pick<Client<typeof EntryService>, "getEntryOptions">;

/** The same text for every cause, so that it does not reveal which addresses have an account. */
const WRONG = "The email address or the password is wrong.";
/** As long as the account service waits for the second step. */
const SECOND_STEP_MS = 5 * 60_000;

export interface SignInHandlers {
  readonly show: RequestHandler;
  readonly signIn: RequestHandler;
  /** Shows the second step, for users with an authenticator app. */
  readonly askForCode: RequestHandler;
  readonly finish: RequestHandler;
  readonly signOut: RequestHandler;
}

/** Starts a new session in the browser, and ends the previous one. */
export type BeginSession = (
  request: Request,
  response: Response,
  newSession: { session?: Session; sessionToken: string },
) => Promise<void>;

export function createBeginSession(sessions: Pick<Sessions, "signOut">): BeginSession {
  return async (request, response, { session: newSession, sessionToken }) => {
    await endSession(sessions, request);
    const session = newSession!;
    logUser(response, session);
    writeCookie(response, "__Host-session", sessionToken, timestampDate(session.expiresAt!));
  };
}

export function createSignIn(options: {
  sessions: Sessions;
  entry: Entry;
  layout: Layout;
  beginSession: BeginSession;
  /** Returns the single sign-on options to offer. */
  readChoices: () => Promise<SingleSignOnChoices | undefined>;
  now: () => Date;
}): SignInHandlers {
  const { entry, layout, beginSession, readChoices, now } = options;

  /** Returns which links to show; none while the account service is unavailable. */
  async function entryOptions(): Promise<EntryOptions> {
    return entry.getEntryOptions({}).catch(() => ({ signUpOpen: false, mailSent: false }));
  }

  async function refuse(response: Response, input: { next: string; email: string }, error: ServiceError) {
    const [ways, singleSignOn] = await Promise.all([entryOptions(), readChoices()]);
    const tooMany = error.code === "rate_limited";
    if (tooMany) response.set("retry-after", String(error.retryAfterSeconds ?? 60));
    layout.sendBarePage(response, {
      title: "Sign in",
      status: tooMany ? 429 : 401,
      content: signInPage({
        ...input,
        // "forbidden": the password is right, but the organization requires another way to sign in.
        problem: tooMany || error.code === "forbidden" ? error.message : WRONG,
        ways,
        singleSignOn,
      }),
    });
  }

  /** Answers a right password for a sign-up that is not confirmed yet. */
  function sendUnconfirmed(response: Response, email: string): void {
    const text = "You are not signed in, because this email address is not confirmed yet.";
    const content = mailSentPage({ email, notice: { kind: "problem", text } });
    layout.sendBarePage(response, { title: "Confirm your email address", status: 403, content });
  }

  function sendCodePage(response: Response, next: string, error?: ServiceError): void {
    const tooMany = error?.code === "rate_limited";
    if (tooMany) response.set("retry-after", String(error.retryAfterSeconds ?? 60));
    layout.sendBarePage(response, {
      title: "Enter a code",
      status: tooMany ? 429 : error ? 401 : 200,
      content: secondStepPage({ next, problem: error?.message }),
    });
  }

  return {
    async show(request, response) {
      const { signed_out: signedOut, done } = request.query;
      const changed = done === "password" && "Your password was changed. Sign in with the new password.";
      const [ways, singleSignOn] = await Promise.all([entryOptions(), readChoices()]);
      layout.sendBarePage(response, {
        title: "Sign in",
        content: signInPage({
          next: nextPath(queryValue(request, "next")),
          email: "",
          ways,
          notice: changed || (signedOut === undefined ? undefined : "You have signed out."),
          singleSignOn,
        }),
      });
    },

    async signIn(request, response) {
      const email = field(request, "email");
      const next = nextPath(field(request, "next"));
      try {
        const signedIn = await options.sessions.signIn({
          email,
          password: field(request, "password"),
          clientAddress: request.ip ?? "",
          userAgent: request.headers["user-agent"] ?? "",
        });
        if (signedIn.emailUnconfirmed) return sendUnconfirmed(response, email);
        if (signedIn.secondStepToken) {
          const until = new Date(now().getTime() + SECOND_STEP_MS);
          writeCookie(response, "__Host-second-step", signedIn.secondStepToken, until);
          response.redirect(303, `/sign-in/code?next=${encodeURIComponent(next)}`);
          return;
        }
        await beginSession(request, response, signedIn);
        response.redirect(303, next);
      } catch (error) {
        if (!(error instanceof ServiceError) || !isRefusal(error)) throw error;
        await refuse(response, { next, email }, error);
      }
    },

    askForCode(request, response) {
      sendCodePage(response, nextPath(queryValue(request, "next")));
    },

    async finish(request, response) {
      const next = nextPath(field(request, "next"));
      try {
        const finished = await options.sessions.finishSignIn({
          secondStepToken: readCookie(request, "__Host-second-step"),
          code: field(request, "code"),
          clientAddress: request.ip ?? "",
          userAgent: request.headers["user-agent"] ?? "",
        });
        clearCookie(response, "__Host-second-step");
        await beginSession(request, response, finished);
        response.redirect(303, next);
      } catch (error) {
        if (!(error instanceof ServiceError) || !isRefusal(error)) throw error;
        sendCodePage(response, next, error);
      }
    },

    async signOut(request, response) {
      // The browser forgets the session first, even if the account service can't end it now.
      clearCookie(response, "__Host-session");
      clearCookie(response, "__Host-form");
      await endSession(options.sessions, request);
      response.redirect(303, "/sign-in?signed_out");
    },
  };
}

function isRefusal(error: ServiceError): boolean {
  return (
    error.code === "unauthorized" ||
    error.code === "forbidden" ||
    error.code === "rate_limited" ||
    error.code === "invalid_request"
  );
}

async function endSession(sessions: Pick<Sessions, "signOut">, request: Request): Promise<void> {
  const sessionToken = readCookie(request, "__Host-session");
  if (sessionToken) await sessions.signOut({ sessionToken, clientAddress: request.ip ?? "" });
}
