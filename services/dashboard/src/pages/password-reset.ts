import { type Html, html } from "../http/html.ts";
import { type Notice, noticeBox } from "./parts.ts";
import { NEW_PASSWORD_HINT, passwordField } from "./password-field.ts";
import { emailField } from "./text-field.ts";

export function forgotPasswordPage(options: { email: string; problem?: string; notice?: Notice }): Html {
  return html`<div class="card narrow">
<h1>Forgot your password?</h1>
${noticeBox(options.notice)}
<p>Enter your e-mail address. If it has an account, a mail brings a link to choose a new password by.</p>
<form method="post" action="/forgot-password">
  ${emailField({ value: options.email, problem: options.problem, autofocus: true })}
  <p class="choices"><button>Send the mail</button> <a class="button quiet" href="/sign-in">Back to sign-in</a></p>
</form>
</div>`;
}

/** Whether or not the address has an account. */
export function resetSentPage(email: string): Html {
  return html`<div class="card narrow">
<h1>Look into your mailbox</h1>
<p>If <strong>${email}</strong> has an account, a mail is on its way to it. Open the link in it within an hour to choose a new password.</p>
<p class="hint">It takes a minute at times, and some land in the folder for junk. No mail? Then the address may be another one.</p>
<p class="choices"><a class="button quiet" href="/forgot-password">Try again</a> <a class="button quiet" href="/sign-in">Back to sign-in</a></p>
</div>`;
}

/** Where the link of the mail leads. */
export function resetPasswordPage(options: { token: string; email: string; problem?: string }): Html {
  const { token, email, problem } = options;
  return html`<div class="card narrow">
<h1>Choose a new password</h1>
<p>For <strong>${email}</strong>. All sessions end, and you sign in with the new password, and with a code where you have an authenticator app.</p>
<form method="post" action="/reset-password">
  <input type="hidden" name="token" value="${token}">
  <div class="unseen"><input type="email" name="email" autocomplete="username" value="${email}" readonly tabindex="-1" aria-label="E-mail address"></div>
  ${passwordField({ name: "password", label: "New password", autocomplete: "new-password", hint: NEW_PASSWORD_HINT, problem, autofocus: true })}
  <button>Set password</button>
</form>
</div>`;
}

/** In the place of the above where the link is of no use any more. */
export function resetLinkOverPage(): Html {
  return html`<div class="card narrow">
<h1>This link is of no use any more</h1>
<p>It was used already, its hour is over, the password was changed since, or a part of it is missing. Your password is as it was.</p>
<p class="choices"><a class="button" href="/forgot-password">Get a new link</a> <a class="button quiet" href="/sign-in">Sign in</a></p>
</div>`;
}
