import { type Html, html } from "../http/html.ts";
import { type Notice, noticeBox } from "./parts.ts";
import { NEW_PASSWORD_HINT, passwordField } from "./password-field.ts";
import { emailField, textField } from "./text-field.ts";

/** Why a sign-up was refused. */
export interface SignUpProblems {
  readonly organization_name?: string;
  readonly email?: string;
  readonly password?: string;
}

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
<p>For an organization of its own, with a sandbox to try everything in. To join one that is here already, ask its owner for an invitation.</p>
<form method="post" action="/sign-up">
  ${textField({ name: "organization_name", label: "Organization", autocomplete: "organization", maxLength: 200, value: organizationName, problem: problems.organization_name, autofocus: isFresh })}
  ${emailField({ value: email, problem: problems.email })}
  ${passwordField({ name: "password", label: "Password", autocomplete: "new-password", hint: NEW_PASSWORD_HINT, problem: problems.password })}
  <p class="choices"><button>Create account</button> <a class="button quiet" href="/sign-in">Sign in</a></p>
</form>
</div>`;
}

/** After a sign-up, whether or not the address had an account: its owner alone learns which by the mail. */
export function mailSentPage(options: { email: string; notice?: Notice }): Html {
  const { email } = options;
  return html`<div class="card narrow">
<h1>Confirm your e-mail address</h1>
${noticeBox(options.notice)}
<p>A mail is on its way to <strong>${email}</strong>. Open the link in it to go on; it is good for 24 hours.</p>
<p class="hint">It takes a minute at times, and some land in the folder for junk.</p>
<form method="post" action="/sign-up/resend">
  <input type="hidden" name="email" value="${email}">
  <p class="choices"><button class="quiet">Send the mail again</button> <a class="button quiet" href="/sign-up">Use another address</a></p>
</form>
</div>`;
}

/** Where the link of the mail leads. */
export function confirmSignUpPage(options: {
  token: string;
  email: string;
  organizationName: string;
  problem?: string;
}): Html {
  const { token, email, organizationName, problem } = options;
  return html`<div class="card narrow">
<h1>Confirm your e-mail address</h1>
<p>You create <strong>${organizationName}</strong>, as <strong>${email}</strong>. Enter the password that you signed up with, so that nobody else can have signed up for you.</p>
<form method="post" action="/sign-up/confirm">
  <input type="hidden" name="token" value="${token}">
  <div class="unseen"><input type="email" name="email" autocomplete="username" value="${email}" readonly tabindex="-1" aria-label="E-mail address"></div>
  ${passwordField({ name: "password", label: "Password", autocomplete: "current-password", problem, autofocus: true })}
  <p class="choices"><button>Confirm and sign in</button> <a class="button quiet" href="/sign-up">Sign up anew</a></p>
</form>
</div>`;
}

/** In the place of the above where the link is of no use any more. */
export function signUpLinkOverPage(): Html {
  return html`<div class="card narrow">
<h1>This link is of no use any more</h1>
<p>It was used already, its 24 hours are over, or a part of it is missing. If you have confirmed your address before, sign in.</p>
<p class="choices"><a class="button" href="/sign-in">Sign in</a> <a class="button quiet" href="/sign-up">Sign up anew</a></p>
</div>`;
}
