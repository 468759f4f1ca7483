import type { RequestHandler, Response } from "express";
import { field } from "../http/form.ts";
import { html } from "../http/html.ts";
import { HOME } from "../http/next-path.ts";
import { ProblemError } from "../http/problem.ts";
import { browserOf, whileConnected } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";
import { emailField, NEW_PASSWORD_HINT, passwordField, textField } from "../ui/fields.ts";
import { type Refusal, type RefusalTexts, refusalOf } from "../ui/form-refusal.ts";
import type { Layout } from "../ui/layout.ts";
import type { Notice } from "../ui/parts.ts";
import { createLinkForm, unseenEmail } from "./link-form.ts";

const refusals: RefusalTexts = {
  fields: { organization_name: "organization name", email: "email address", password: "password" },
};

/** Creates the handlers with which people create an account and a new organization. */
export function createSignUp({ entry, layout, beginSession }: PageContext) {
  function sendForm(response: Response, shown: Partial<Refusal> & { organizationName: string; email: string }): void {
    const { organizationName, email, problems = {}, ...page } = shown;
    const isFresh = Object.keys(problems).length === 0;
    const content = html`<p>This creates a new organization, with a sandbox where you can try everything. To join an existing organization, ask one of its owners for an invitation.</p>
<form method="post" action="/sign-up">
  ${textField({ name: "organization_name", label: "Organization name", autocomplete: "organization", maxLength: 200, value: organizationName, problem: problems.organization_name, autofocus: isFresh })}
  ${emailField({ value: email, problem: problems.email })}
  ${passwordField({ name: "password", label: "Password", autocomplete: "new-password", hint: NEW_PASSWORD_HINT, problem: problems.password })}
  <p class="choices"><button>Create account</button> <a class="button quiet" href="/sign-in">Sign in</a></p>
</form>`;
    layout.sendCard(response, { title: "Create an account", ...page, content });
  }

  const { show, submit } = createLinkForm(layout, {
    title: "Confirm your email address",
    read: (token) => entry.getSignUp({ token }),
    form: ({ email, organizationName }, token, problem) => ({
      content: html`<p>You are creating the organization <strong>${organizationName}</strong> as <strong>${email}</strong>. Enter the password that you chose when you signed up. This proves that you, and not someone else, signed up with your address.</p>
<form method="post" action="/sign-up/confirm">
  ${token}
  ${unseenEmail(email)}
  ${passwordField({ name: "password", label: "Password", autocomplete: "current-password", problem, autofocus: true })}
  <p class="choices"><button>Confirm and sign in</button> <a class="button quiet" href="/sign-up">Sign up again</a></p>
</form>`,
    }),
    invalid: {
      heading: "This link no longer works",
      content: html`<p>It was already used, is older than 24 hours, or a part of the link is missing. If you have already confirmed your address, sign in. Otherwise sign up again.</p>
<p class="choices"><a class="button" href="/sign-in">Sign in</a> <a class="button quiet" href="/sign-up">Sign up again</a></p>`,
    },
    subject: "The password",
    async use(request, response, token, password) {
      const typed = { token, password, ...browserOf(request) };
      await beginSession(request, response, await entry.confirmSignUp(typed, whileConnected(response)));
      response.redirect(303, HOME);
    },
  });

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
        sendMailSent(layout, response, input.email);
      } catch (error) {
        sendForm(response, { ...input, ...refusalOf(response, error, refusals) });
      }
    },

    async resend(request, response) {
      const email = field(request, "email");
      try {
        await entry.resendSignUp({ email, clientAddress: request.ip ?? "" });
        const text = "If this address still has to be confirmed, we have sent another email.";
        sendMailSent(layout, response, email, { notice: { kind: "done", text } });
      } catch (error) {
        sendMailSent(layout, response, email, refusalOf(response, error, { fields: {} }));
      }
    },

    askForPassword: show,
    confirm: submit,
  } satisfies Record<string, RequestHandler>;
}

/** Sends the page after a sign-up, whether or not the address already had an account: only the email says which. */
export function sendMailSent(
  layout: Layout,
  response: Response,
  email: string,
  page: { readonly notice?: Notice; readonly status?: number } = {},
): void {
  const content = html`<p>We have sent an email to <strong>${email}</strong>. Open the link in it to continue. The link works for 24 hours.</p>
<p class="hint">The email can take a minute. If it does not arrive, check your spam folder.</p>
<form method="post" action="/sign-up/resend">
  <input type="hidden" name="email" value="${email}">
  <p class="choices"><button class="quiet">Send the email again</button> <a class="button quiet" href="/sign-up">Use another address</a></p>
</form>`;
  layout.sendCard(response, { title: "Confirm your email address", ...page, content });
}
