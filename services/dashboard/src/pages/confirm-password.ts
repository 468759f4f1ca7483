import { type Html, html } from "../http/html.ts";
import type { Visit } from "../http/session.ts";

/** Asks who is signed in for their password again, and leads on to `next`. */
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
<h1>Confirm that it is you</h1>
<p>What you are about to do is for <strong>${email}</strong> alone, not for somebody who finds this browser open. Sign in again where your organization signs in; you are not asked again for 15 minutes.</p>
<p class="choices"><a class="button" href="/sign-in/sso/${identityProviderId}?again&amp;next=${encodeURIComponent(next)}">Sign in again</a> <a class="button quiet" href="${next}">Go back</a></p>
</div>`;
  }
  return html`<div class="card narrow">
<h1>Confirm your password</h1>
<p id="why">What you are about to do is for <strong>${visit.session.email}</strong> alone, not for somebody who finds this browser open. You are not asked again for 15 minutes.</p>
<form method="post" action="${visit.view.path}/security/confirm">
  <input type="hidden" name="next" value="${next}">
  <label for="password">Password</label>
  <input id="password" name="password" type="password" autocomplete="current-password" required maxlength="1024" autofocus aria-describedby="why${problem && " password-problem"}"${problem && html` aria-invalid="true"`}>
  ${problem && html`<p class="field-problem" id="password-problem" role="alert">${problem}</p>`}
  <p class="choices"><button>Confirm</button> ${options.hasPasskey && html`<a class="button quiet" href="${visit.view.path}/security/confirm/passkey?next=${encodeURIComponent(next)}">Use a passkey</a> `}<a class="button quiet" href="${next}">Go back</a></p>
</form>
</div>`;
}
