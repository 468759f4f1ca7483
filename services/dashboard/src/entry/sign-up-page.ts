import { type Html, html } from "../http/html.ts";
import { type Notice, noticeBox } from "../ui/parts.ts";
import { emailField, NEW_PASSWORD_HINT, passwordField, textField } from "../ui/text-field.ts";

/** Why a sign-up was refused, by field. */
export type SignUpProblems = { readonly [F in "organization_name" | "email" | "password"]?: string };

export function signUpPage(options: {
  organizationName: string;
  email: string;
  problems?: SignUpProblems;
  notice?: Notice;
}): Html {
  const { organizationName, email, problems = {} } = options;
  const isFresh = Object.keys(problems).length === 0;
  return html`<div class="card narrow">
<h1>Create an account</h1>
${noticeBox(options.notice)}
<p>This creates a new organization, with a sandbox where you can try everything. To join an existing organization, ask one of its owners for an invitation.</p>
<form method="post" action="/sign-up">
  ${textField({ name: "organization_name", label: "Organization name", autocomplete: "organization", maxLength: 200, value: organizationName, problem: problems.organization_name, autofocus: isFresh })}
  ${emailField({ value: email, problem: problems.email })}
  ${passwordField({ name: "password", label: "Password", autocomplete: "new-password", hint: NEW_PASSWORD_HINT, problem: problems.password })}
  <p class="choices"><button>Create account</button> <a class="button quiet" href="/sign-in">Sign in</a></p>
</form>
</div>`;
}

/** The page after a sign-up, whether or not the address already had an account: only the email says which. */
export function mailSentPage(options: { email: string; notice?: Notice }): Html {
  const { email } = options;
  return html`<div class="card narrow">
<h1>Confirm your email address</h1>
${noticeBox(options.notice)}
<p>We have sent an email to <strong>${email}</strong>. Open the link in it to continue. The link works for 24 hours.</p>
<p class="hint">The email can take a minute. If it does not arrive, check your spam folder.</p>
<form method="post" action="/sign-up/resend">
  <input type="hidden" name="email" value="${email}">
  <p class="choices"><button class="quiet">Send the email again</button> <a class="button quiet" href="/sign-up">Use another address</a></p>
</form>
</div>`;
}

/** The page that the link in the email opens. */
export function confirmSignUpPage(options: {
  token: string;
  email: string;
  organizationName: string;
  problem?: string;
}): Html {
  const { token, email, organizationName, problem } = options;
  return html`<div class="card narrow">
<h1>Confirm your email address</h1>
<p>You are creating the organization <strong>${organizationName}</strong> as <strong>${email}</strong>. Enter the password that you chose when you signed up. This proves that you, and not someone else, signed up with your address.</p>
<form method="post" action="/sign-up/confirm">
  <input type="hidden" name="token" value="${token}">
  <div class="unseen"><input type="email" name="email" autocomplete="username" value="${email}" readonly tabindex="-1" aria-label="Email address"></div>
  ${passwordField({ name: "password", label: "Password", autocomplete: "current-password", problem, autofocus: true })}
  <p class="choices"><button>Confirm and sign in</button> <a class="button quiet" href="/sign-up">Sign up again</a></p>
</form>
</div>`;
}

/** The page for a link that no longer works. */
export function signUpLinkInvalidPage(): Html {
  return html`<div class="card narrow">
<h1>This link no longer works</h1>
<p>It was already used, is older than 24 hours, or a part of the link is missing. If you have already confirmed your address, sign in. Otherwise sign up again.</p>
<p class="choices"><a class="button" href="/sign-in">Sign in</a> <a class="button quiet" href="/sign-up">Sign up again</a></p>
</div>`;
}
