import { type Html, html } from "../http/html.ts";
import type { Visit } from "../http/session.ts";

/** The page that asks signed-in users to confirm their password, and then leads to `next`. */
export function confirmPasswordPage(options: {
  visit: Visit;
  next: string;
  hasPasskey: boolean;
  problem?: string;
}): Html {
  const { visit, next, problem } = options;
  const { identityProviderId, email } = visit.session;
  if (identityProviderId) {
    return html`<div class="card narrow">
<h1>Confirm your identity</h1>
<p>To protect the account of <strong>${email}</strong>, sign in again with your organization’s identity provider before you continue. You will not be asked again for 15 minutes.</p>
<p class="choices"><a class="button" href="/sign-in/sso/${identityProviderId}?again&amp;next=${encodeURIComponent(next)}">Sign in again</a> <a class="button quiet" href="${next}">Go back</a></p>
</div>`;
  }
  return html`<div class="card narrow">
<h1>Confirm your password</h1>
<p id="why">To protect the account of <strong>${visit.session.email}</strong>, enter your password before you continue. You will not be asked again for 15 minutes.</p>
<form method="post" action="${visit.view.path}/security/confirm">
  <input type="hidden" name="next" value="${next}">
  <label for="password">Password</label>
  <input id="password" name="password" type="password" autocomplete="current-password" required maxlength="1024" autofocus aria-describedby="why${problem && " password-problem"}"${problem && html` aria-invalid="true"`}>
  ${problem && html`<p class="field-problem" id="password-problem" role="alert">${problem}</p>`}
  <p class="choices"><button>Confirm</button> ${options.hasPasskey && html`<a class="button quiet" href="${visit.view.path}/security/confirm/passkey?next=${encodeURIComponent(next)}">Use a passkey</a> `}<a class="button quiet" href="${next}">Go back</a></p>
</form>
</div>`;
}
