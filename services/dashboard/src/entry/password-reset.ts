import type { RequestHandler, Response } from "express";
import { field } from "../http/form.ts";
import { html } from "../http/html.ts";
import { ProblemError } from "../http/problem.ts";
import { deviceToken, whileConnected } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";
import { emailField, NEW_PASSWORD_HINT, passwordField } from "../ui/fields.ts";
import { type Refusal, refusalOf } from "../ui/form-refusal.ts";
import { createLinkForm, unseenEmail } from "./link-form.ts";

/** Creates the handlers with which people who forgot their password choose a new one. */
export function createPasswordReset({ entry, layout }: PageContext) {
  function sendForm(response: Response, shown: Partial<Refusal> & { email: string }): void {
    const { email, problems, ...page } = shown;
    const content = html`<p>Enter your email address. If it has an account, we send you a link to choose a new password.</p>
<form method="post" action="/forgot-password">
  ${emailField({ value: email, problem: problems?.email, autofocus: true })}
  <p class="choices"><button>Send the link</button> <a class="button quiet" href="/sign-in">Go back to sign in</a></p>
</form>`;
    layout.sendCard(response, { title: "Forgot your password?", ...page, content });
  }

  const { show, submit } = createLinkForm(layout, {
    title: "Choose a new password",
    read: (token) => entry.getPasswordReset({ token }),
    form: ({ email, passkeys }, token, problem) => ({
      content: html`<p>For <strong>${email}</strong>. Setting a new password ends all your sessions. Then sign in with the new password, and with a code if you use an authenticator app.</p>
<form method="post" action="/reset-password">
  ${token}
  ${unseenEmail(email)}
  ${passwordField({ name: "password", label: "New password", autocomplete: "new-password", hint: NEW_PASSWORD_HINT, problem, autofocus: true })}
  ${passkeys > 0 && html`<label class="check"><input type="checkbox" name="passkeys" value="remove"> <span>Also remove ${passkeys === 1 ? "my passkey" : `all my ${passkeys} passkeys`} <span class="hint">A new password keeps passkeys. Remove them if someone else may have added one, or has a device of yours. You can add new ones afterwards.</span></span></label>`}
  <button>Set password</button>
</form>`,
    }),
    invalid: {
      heading: "This link no longer works",
      content: html`<p>It was already used, is older than one hour, your password was changed since, or a part of the link is missing. Your password was not changed by opening it.</p>
<p class="choices"><a class="button" href="/forgot-password">Get a new link</a> <a class="button quiet" href="/sign-in">Sign in</a></p>`,
    },
    subject: "The new password",
    async use(request, response, token, password) {
      const removePasskeys = field(request, "passkeys") === "remove";
      const typed = { token, password, removePasskeys, clientAddress: request.ip ?? "" };
      await entry.resetPassword(typed, whileConnected(response));
      response.redirect(303, "/sign-in?done=password");
    },
  });

  return {
    async ask(_request, response) {
      if (!(await entry.getEntryOptions({})).mailSent) throw new ProblemError("page_not_found");
      sendForm(response, { email: "" });
    },

    /** Answers the same whether or not the address has an account. */
    async send(request, response) {
      const email = field(request, "email");
      try {
        const browser = { clientAddress: request.ip ?? "", deviceToken: deviceToken(request) };
        await entry.requestPasswordReset({ email, ...browser });
        const content = html`<p>If <strong>${email}</strong> has an account, we have sent an email to it. Open the link in the email within one hour to choose a new password.</p>
<p class="hint">The email can take a minute. If it does not arrive, check your spam folder, or try another address.</p>
<p class="choices"><a class="button quiet" href="/forgot-password">Try again</a> <a class="button quiet" href="/sign-in">Go back to sign in</a></p>`;
        layout.sendCard(response, { title: "Check your email", content });
      } catch (error) {
        sendForm(response, { email, ...refusalOf(response, error, { fields: { email: "email address" } }) });
      }
    },

    choose: show,
    reset: submit,
  } satisfies Record<string, RequestHandler>;
}
