import { ServiceError } from "@vvs/errors";
import type { EntryService } from "@vvs/proto/account/v1/entry";
import type { Client } from "@vvs/rpc";
import type { RequestHandler, Response } from "express";
import { field, queryValue } from "../http/form.ts";
import { HOME } from "../http/next-path.ts";
import { ProblemError } from "../http/problem.ts";
import type { Layout } from "../ui/layout.ts";
import type { Notice } from "../ui/parts.ts";
import type { BeginSession } from "./sign-in.ts";
import {
  confirmSignUpPage,
  mailSentPage,
  type SignUpProblems,
  signUpLinkInvalidPage,
  signUpPage,
} from "./sign-up-page.ts";

type Entry = Pick<
  Client<typeof EntryService>,
  "getEntryOptions" | "signUp" | "resendSignUp" | "getSignUp" | "confirmSignUp"
>;

/** Handlers with which people create an account and a new organization. */
export interface SignUpHandlers {
  readonly show: RequestHandler;
  readonly signUp: RequestHandler;
  readonly resend: RequestHandler;
  /** Shows the page that the link in the email opens. Only its form uses the link, because mail scanners open links too. */
  readonly askForPassword: RequestHandler;
  readonly confirm: RequestHandler;
}

/** The subject of the sentence about a refused field; the account service sends the rest. */
const subjects: Readonly<Record<keyof SignUpProblems, string>> = {
  organization_name: "The organization name",
  email: "The email address",
  password: "The password",
};

export function createSignUp(options: { entry: Entry; layout: Layout; beginSession: BeginSession }): SignUpHandlers {
  const { entry, layout, beginSession } = options;

  async function expectOpen(): Promise<void> {
    if (!(await entry.getEntryOptions({})).signUpOpen) throw new ProblemError("page_not_found");
  }

  function sendForm(
    response: Response,
    shown: { organizationName: string; email: string; problems?: SignUpProblems; notice?: Notice; status?: number },
  ): void {
    layout.sendBarePage(response, { title: "Create an account", status: shown.status, content: signUpPage(shown) });
  }

  function sendSent(response: Response, email: string, notice?: Notice, status?: number): void {
    const content = mailSentPage({ email, notice });
    layout.sendBarePage(response, { title: "Confirm your email address", status, content });
  }

  async function sendConfirm(response: Response, token: string, refused?: { status: number; problem: string }) {
    try {
      const { email, organizationName } = await entry.getSignUp({ token });
      const content = confirmSignUpPage({ token, email, organizationName, problem: refused?.problem });
      layout.sendBarePage(response, { title: "Confirm your email address", status: refused?.status, content });
    } catch (error) {
      if (!isCode(error, "not_found")) throw error;
      layout.sendBarePage(response, { title: "Link no longer works", status: 404, content: signUpLinkInvalidPage() });
    }
  }

  return {
    async show(_request, response) {
      await expectOpen();
      sendForm(response, { organizationName: "", email: "" });
    },

    async signUp(request, response) {
      const typed = { organizationName: field(request, "organization_name"), email: field(request, "email") };
      const clientAddress = request.ip ?? "";
      try {
        await entry.signUp({ ...typed, password: field(request, "password"), clientAddress });
        sendSent(response, typed.email);
      } catch (error) {
        if (isCode(error, "rate_limited")) {
          sendForm(response, { ...typed, notice: noticeOf(response, error), status: 429 });
        } else {
          sendForm(response, { ...typed, problems: problemsOf(error), status: 400 });
        }
      }
    },

    async resend(request, response) {
      const email = field(request, "email");
      try {
        await entry.resendSignUp({ email, clientAddress: request.ip ?? "" });
        sendSent(response, email, {
          kind: "done",
          text: "If this address still has to be confirmed, we have sent another email.",
        });
      } catch (error) {
        if (!isCode(error, "rate_limited")) throw error;
        sendSent(response, email, noticeOf(response, error), 429);
      }
    },

    askForPassword(request, response) {
      return sendConfirm(response, queryValue(request, "token"));
    },

    async confirm(request, response) {
      const token = field(request, "token");
      try {
        const confirmed = await entry.confirmSignUp({
          token,
          password: field(request, "password"),
          clientAddress: request.ip ?? "",
          userAgent: request.headers["user-agent"] ?? "",
        });
        await beginSession(request, response, confirmed);
        response.redirect(303, HOME);
      } catch (error) {
        if (isCode(error, "not_found")) return sendConfirm(response, token);
        if (isCode(error, "unauthorized")) return sendConfirm(response, token, { status: 401, problem: error.message });
        if (!isCode(error, "rate_limited")) throw error;
        return sendConfirm(response, token, { status: 429, problem: noticeOf(response, error).text });
      }
    },
  };
}

/** Returns the notice for a rate-limited request, and sets Retry-After. */
export function noticeOf(response: Response, error: ServiceError): Notice {
  response.set("retry-after", String(error.retryAfterSeconds ?? 60));
  return { kind: "problem", text: error.message };
}

export function isCode(error: unknown, code: ServiceError["code"]): error is ServiceError {
  return error instanceof ServiceError && error.code === code;
}

/** Returns the problems of the form's fields. Errors that are not about a field are thrown as they are. */
function problemsOf(error: unknown): SignUpProblems {
  if (!isCode(error, "invalid_request") || error.details.length === 0) throw error;
  return Object.fromEntries(
    error.details.map(({ path, message }) => [path, `${subjects[path as keyof SignUpProblems] ?? "This"} ${message}.`]),
  );
}
