import { timestampDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import type { AccountService, Session } from "@vvs/proto/account/v1/account";
import type { EntryService } from "@vvs/proto/account/v1/entry";
import type { Client } from "@vvs/rpc";
import type { Request, RequestHandler, Response } from "express";
import { alsoLog } from "./http/access-log.ts";
import { clearCookie, readCookie, writeCookie } from "./http/cookies.ts";
import { field } from "./http/form.ts";
import { nextPath } from "./http/next-path.ts";
import { queried } from "./http/queried.ts";
import type { Layout } from "./pages/layout.ts";
import { secondStepPage } from "./pages/second-step.ts";
import { signInPage, type WaysIn } from "./pages/sign-in.ts";
import { mailSentPage } from "./pages/sign-up.ts";
import type { SingleSignOnChoices } from "./pages/single-sign-on.ts";

type Account = Pick<Client<typeof AccountService>, "signIn" | "finishSignIn" | "signOut">;
type Entry = Pick<Client<typeof EntryService>, "getEntryOptions">;

/** One text for every cause, so that nobody learns which addresses have an account. */
const WRONG = "The e-mail address or the password is wrong.";
/** As long as account waits for the second step. */
const SECOND_STEP_MS = 5 * 60_000;

export interface SignInHandlers {
  readonly show: RequestHandler;
  readonly signIn: RequestHandler;
  /** The second step, for who has an authenticator app. */
  readonly askForCode: RequestHandler;
  readonly finish: RequestHandler;
  readonly signOut: RequestHandler;
}

/** Has the browser go on with a new session, and with no other. */
export type BeginSession = (
  request: Request,
  response: Response,
  begun: { session?: Session; sessionToken: string },
) => Promise<void>;

export function createBeginSession(account: Pick<Account, "signOut">): BeginSession {
  return async (request, response, begun) => {
    await endSession(account, request);
    const session = begun.session!;
    alsoLog(response, { user_id: session.userId, organization_id: session.organizationId });
    writeCookie(response, "__Host-session", begun.sessionToken, timestampDate(session.expiresAt!));
  };
}

export function createSignIn(options: {
  account: Account;
  entry: Entry;
  layout: Layout;
  beginSession: BeginSession;
  /** What there is beside passwords. */
  readChoices: () => Promise<SingleSignOnChoices | undefined>;
  now: () => Date;
}): SignInHandlers {
  const { account, entry, layout, beginSession, readChoices, now } = options;

  /** With account away there is the form alone. */
  async function waysIn(): Promise<WaysIn> {
    return entry.getEntryOptions({}).catch(() => ({ signUpOpen: false, mailSent: false }));
  }

  async function refuse(response: Response, input: { next: string; email: string }, error: ServiceError) {
    const [ways, singleSignOn] = await Promise.all([waysIn(), readChoices()]);
    const tooMany = error.code === "rate_limited";
    if (tooMany) response.set("retry-after", String(error.retryAfterSeconds ?? 60));
    layout.sendBarePage(response, {
      title: "Sign in",
      status: tooMany ? 429 : 401,
      content: signInPage({
        ...input,
        // Who gave the right password is told that it is not the way in.
        problem: tooMany || error.code === "forbidden" ? error.message : WRONG,
        ways,
        singleSignOn,
      }),
    });
  }

  /** To who knows the password of a sign-up that was not confirmed yet. */
  function sendUnconfirmed(response: Response, email: string): void {
    const text = "You are not signed in yet: this address is not confirmed.";
    const content = mailSentPage({ email, notice: { kind: "problem", text } });
    layout.sendBarePage(response, { title: "Confirm your e-mail address", status: 403, content });
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
      const changed = done === "password" && "Your password is changed. Sign in with the new one.";
      const [ways, singleSignOn] = await Promise.all([waysIn(), readChoices()]);
      layout.sendBarePage(response, {
        title: "Sign in",
        content: signInPage({
          next: nextPath(queried(request, "next")),
          email: "",
          ways,
          notice: changed || (signedOut === undefined ? undefined : "You are signed out."),
          singleSignOn,
        }),
      });
    },

    async signIn(request, response) {
      const email = field(request, "email");
      const next = nextPath(field(request, "next"));
      try {
        const signedIn = await account.signIn({
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
      sendCodePage(response, nextPath(queried(request, "next")));
    },

    async finish(request, response) {
      const next = nextPath(field(request, "next"));
      try {
        const finished = await account.finishSignIn({
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
      // First: this browser forgets the session even where it can't be ended everywhere at the moment.
      clearCookie(response, "__Host-session");
      clearCookie(response, "__Host-form");
      await endSession(account, request);
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

async function endSession(account: Pick<Account, "signOut">, request: Request): Promise<void> {
  const sessionToken = readCookie(request, "__Host-session");
  if (sessionToken) await account.signOut({ sessionToken, clientAddress: request.ip ?? "" });
}
