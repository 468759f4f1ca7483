import type { RequestHandler, Response } from "express";
import { field, queryValue } from "../http/form.ts";
import { ProblemError } from "../http/problem.ts";
import { isRefusal, refusalNotice } from "../http/refusal.ts";
import { deviceToken, whileConnected } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import type { Notice } from "../ui/parts.ts";
import { forgotPasswordPage, resetLinkInvalidPage, resetPasswordPage, resetSentPage } from "./password-reset-page.ts";

/** Creates the handlers with which people who forgot their password choose a new one. */
export function createPasswordReset({ entry, layout }: PageContext) {
  function sendForm(
    response: Response,
    shown: { email: string; problem?: string; notice?: Notice; status?: number },
  ): void {
    const content = forgotPasswordPage(shown);
    layout.sendBarePage(response, { title: "Forgot your password?", status: shown.status, content });
  }

  async function sendChoice(response: Response, token: string, problem?: string, status = 400): Promise<void> {
    try {
      const { email, passkeys } = await entry.getPasswordReset({ token });
      const content = resetPasswordPage({ token, email, passkeys, problem });
      layout.sendBarePage(response, { title: "Choose a new password", status: problem ? status : 200, content });
    } catch (error) {
      if (!isRefusal(error, "not_found")) throw error;
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
        const browser = { clientAddress: request.ip ?? "", deviceToken: deviceToken(request) };
        await entry.requestPasswordReset({ email, ...browser });
        layout.sendBarePage(response, { title: "Check your email", content: resetSentPage(email) });
      } catch (error) {
        if (isRefusal(error, "rate_limited")) {
          sendForm(response, { email, notice: refusalNotice(response, error), status: 429 });
        } else if (isRefusal(error, "invalid_request")) {
          sendForm(response, { email, problem: "Enter an email address, such as ada@example.com.", status: 400 });
        } else throw error;
      }
    },

    /** Shows the page that the link in the email opens. */
    choose: (request, response) => sendChoice(response, queryValue(request, "token")),

    async reset(request, response) {
      const token = field(request, "token");
      try {
        const removePasskeys = field(request, "passkeys") === "remove";
        const typed = { token, password: field(request, "password"), removePasskeys, clientAddress: request.ip ?? "" };
        await entry.resetPassword(typed, whileConnected(response));
        response.redirect(303, "/sign-in?done=password");
      } catch (error) {
        if (isRefusal(error, "not_found")) return sendChoice(response, token);
        if (isRefusal(error, "rate_limited")) {
          return sendChoice(response, token, refusalNotice(response, error).text, 429);
        }
        if (!isRefusal(error, "invalid_request")) throw error;
        return sendChoice(response, token, `The new password ${error.details[0]?.message}.`);
      }
    },
  } satisfies Record<string, RequestHandler>;
}
