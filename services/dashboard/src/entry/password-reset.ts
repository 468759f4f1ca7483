import type { EntryService } from "@vvs/proto/account/v1/entry";
import type { Client } from "@vvs/rpc";
import type { RequestHandler, Response } from "express";
import { field, queryValue } from "../http/form.ts";
import { ProblemError } from "../http/problem.ts";
import type { Layout } from "../ui/layout.ts";
import type { Notice } from "../ui/parts.ts";
import { forgotPasswordPage, resetLinkInvalidPage, resetPasswordPage, resetSentPage } from "./password-reset-page.ts";
import { isCode, noticeOf } from "./sign-up.ts";

type Entry = Pick<
  Client<typeof EntryService>,
  "getEntryOptions" | "requestPasswordReset" | "getPasswordReset" | "resetPassword"
>;

/** Handlers with which people who forgot their password choose a new one. */
export interface PasswordResetHandlers {
  readonly ask: RequestHandler;
  readonly send: RequestHandler;
  /** Shows the page that the link in the email opens. */
  readonly choose: RequestHandler;
  readonly reset: RequestHandler;
}

export function createPasswordReset(options: { entry: Entry; layout: Layout }): PasswordResetHandlers {
  const { entry, layout } = options;

  function sendForm(
    response: Response,
    shown: { email: string; problem?: string; notice?: Notice; status?: number },
  ): void {
    const content = forgotPasswordPage(shown);
    layout.sendBarePage(response, { title: "Forgot your password?", status: shown.status, content });
  }

  async function sendChoice(response: Response, token: string, problem?: string): Promise<void> {
    try {
      const { email } = await entry.getPasswordReset({ token });
      const content = resetPasswordPage({ token, email, problem });
      layout.sendBarePage(response, { title: "Choose a new password", status: problem ? 400 : 200, content });
    } catch (error) {
      if (!isCode(error, "not_found")) throw error;
      layout.sendBarePage(response, { title: "Link no longer works", status: 404, content: resetLinkInvalidPage() });
    }
  }

  return {
    async ask(_request, response) {
      if (!(await entry.getEntryOptions({})).mailSent) throw new ProblemError("page_not_found");
      sendForm(response, { email: "" });
    },

    async send(request, response) {
      const email = field(request, "email");
      try {
        await entry.requestPasswordReset({ email, clientAddress: request.ip ?? "" });
        layout.sendBarePage(response, { title: "Check your email", content: resetSentPage(email) });
      } catch (error) {
        if (isCode(error, "rate_limited")) {
          sendForm(response, { email, notice: noticeOf(response, error), status: 429 });
        } else if (isCode(error, "invalid_request")) {
          sendForm(response, { email, problem: "Enter an email address, such as ada@example.com.", status: 400 });
        } else throw error;
      }
    },

    choose(request, response) {
      return sendChoice(response, queryValue(request, "token"));
    },

    async reset(request, response) {
      const token = field(request, "token");
      try {
        await entry.resetPassword({ token, password: field(request, "password"), clientAddress: request.ip ?? "" });
        response.redirect(303, "/sign-in?done=password");
      } catch (error) {
        if (isCode(error, "not_found")) return sendChoice(response, token);
        if (!isCode(error, "invalid_request")) throw error;
        return sendChoice(response, token, `The new password ${error.details[0]?.message}.`);
      }
    },
  };
}
