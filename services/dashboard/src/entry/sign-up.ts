import type { RequestHandler, Response } from "express";
import { field, queryValue } from "../http/form.ts";
import { HOME } from "../http/next-path.ts";
import { ProblemError } from "../http/problem.ts";
import { isRefusal, refusalNotice } from "../http/refusal.ts";
import { browserOf, whileConnected } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import type { Notice } from "../ui/parts.ts";
import {
  confirmSignUpPage,
  mailSentPage,
  type SignUpProblems,
  signUpLinkInvalidPage,
  signUpPage,
} from "./sign-up-page.ts";

/** The subject of the sentence about a refused field; the account service sends the rest. */
const subjects: Readonly<Record<keyof SignUpProblems, string>> = {
  organization_name: "The organization name",
  email: "The email address",
  password: "The password",
};

/** Creates the handlers with which people create an account and a new organization. */
export function createSignUp({ entry, layout, beginSession }: PageContext) {
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
      if (!isRefusal(error, "not_found")) throw error;
      layout.sendBarePage(response, { title: "Link no longer works", status: 404, content: signUpLinkInvalidPage() });
    }
  }

  return {
    async show(_request, response) {
      if (!(await entry.getEntryOptions({})).signUpOpen) throw new ProblemError("page_not_found");
      sendForm(response, { organizationName: "", email: "" });
    },

    async signUp(request, response) {
      const input = { organizationName: field(request, "organization_name"), email: field(request, "email") };
      try {
        const password = field(request, "password");
        await entry.signUp({ ...input, password, clientAddress: request.ip ?? "" }, whileConnected(response));
        sendSent(response, input.email);
      } catch (error) {
        if (isRefusal(error, "rate_limited")) {
          sendForm(response, { ...input, notice: refusalNotice(response, error), status: 429 });
        } else {
          sendForm(response, { ...input, problems: problemsOf(error), status: 400 });
        }
      }
    },

    async resend(request, response) {
      const email = field(request, "email");
      try {
        await entry.resendSignUp({ email, clientAddress: request.ip ?? "" });
        const text = "If this address still has to be confirmed, we have sent another email.";
        sendSent(response, email, { kind: "done", text });
      } catch (error) {
        if (!isRefusal(error, "rate_limited")) throw error;
        sendSent(response, email, refusalNotice(response, error), 429);
      }
    },

    /** Shows the page that the link in the email opens. Only its form uses the link, because mail scanners open links too. */
    askForPassword: (request, response) => sendConfirm(response, queryValue(request, "token")),

    async confirm(request, response) {
      const token = field(request, "token");
      try {
        const password = field(request, "password");
        const typed = { token, password, ...browserOf(request) };
        await beginSession(request, response, await entry.confirmSignUp(typed, whileConnected(response)));
        response.redirect(303, HOME);
      } catch (error) {
        if (isRefusal(error, "not_found")) return sendConfirm(response, token);
        if (!isRefusal(error, "unauthorized", "rate_limited")) throw error;
        const { text } = refusalNotice(response, error);
        return sendConfirm(response, token, { status: error.code === "unauthorized" ? 401 : 429, problem: text });
      }
    },
  } satisfies Record<string, RequestHandler>;
}

/** Returns the problems of the form's fields. Errors that are not about a field are thrown as they are. */
function problemsOf(error: unknown): SignUpProblems {
  if (!isRefusal(error, "invalid_request") || error.details.length === 0) throw error;
  return Object.fromEntries(
    error.details.map(({ path, message }) => [path, `${subjects[path as keyof SignUpProblems] ?? "This"} ${message}.`]),
  );
}
