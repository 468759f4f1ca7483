import { type Html, html } from "../http/html.ts";
import { type Notice, noticeBox } from "../ui/parts.ts";
import { emailField, NEW_PASSWORD_HINT, passwordField } from "../ui/text-field.ts";

export function forgotPasswordPage(options: { email: string; problem?: string; notice?: Notice }): Html {
  return html`<div class="card narrow">
<h1>Forgot your password?</h1>
${noticeBox(options.notice)}
<p>Enter your email address. If it has an account, we send you a link to choose a new password.</p>
<form method="post" action="/forgot-password">
  ${emailField({ value: options.email, problem: options.problem, autofocus: true })}
  <p class="choices"><button>Send the link</button> <a class="button quiet" href="/sign-in">Go back to sign in</a></p>
</form>
</div>`;
}

/** The page after a request, whether or not the address has an account. */
export function resetSentPage(email: string): Html {
  return html`<div class="card narrow">
<h1>Check your email</h1>
<p>If <strong>${email}</strong> has an account, we have sent an email to it. Open the link in the email within one hour to choose a new password.</p>
<p class="hint">The email can take a minute. If it does not arrive, check your spam folder, or try another address.</p>
<p class="choices"><a class="button quiet" href="/forgot-password">Try again</a> <a class="button quiet" href="/sign-in">Go back to sign in</a></p>
</div>`;
}

/** The page that the link in the email opens. */
export function resetPasswordPage(options: {
  token: string;
  email: string;
  /** Number of passkeys of the account. */
  passkeys: number;
  problem?: string;
}): Html {
  const { token, email, passkeys, problem } = options;
  return html`<div class="card narrow">
<h1>Choose a new password</h1>
<p>For <strong>${email}</strong>. Setting a new password ends all your sessions. Then sign in with the new password, and with a code if you use an authenticator app.</p>
<form method="post" action="/reset-password">
  <input type="hidden" name="token" value="${token}">
  <div class="unseen"><input type="email" name="email" autocomplete="username" value="${email}" readonly tabindex="-1" aria-label="Email address"></div>
  ${passwordField({ name: "password", label: "New password", autocomplete: "new-password", hint: NEW_PASSWORD_HINT, problem, autofocus: true })}
  ${passkeys > 0 && html`<label class="check"><input type="checkbox" name="passkeys" value="remove"> <span>Also remove ${passkeys === 1 ? "my passkey" : `all my ${passkeys} passkeys`} <span class="hint">A new password keeps passkeys. Remove them if someone else may have added one, or has a device of yours. You can add new ones afterwards.</span></span></label>`}
  <button>Set password</button>
</form>
</div>`;
}

/** The page for a link that no longer works. */
export function resetLinkInvalidPage(): Html {
  return html`<div class="card narrow">
<h1>This link no longer works</h1>
<p>It was already used, is older than one hour, your password was changed since, or a part of the link is missing. Your password was not changed by opening it.</p>
<p class="choices"><a class="button" href="/forgot-password">Get a new link</a> <a class="button quiet" href="/sign-in">Sign in</a></p>
</div>`;
}
