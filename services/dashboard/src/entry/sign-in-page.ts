import type { GetEntryOptionsResponse } from "@vvs/proto/account/v1/entry";
import { type Html, html } from "../http/html.ts";
import { type Notice, noticeBox } from "../ui/parts.ts";
import { emailField, passwordField } from "../ui/text-field.ts";
import { type SingleSignOnChoices, singleSignOnChoices } from "./single-sign-on-page.ts";

export function signInPage(options: {
  next: string;
  email: string;
  /** What the page offers besides signing in. */
  ways: Pick<GetEntryOptionsResponse, "signUpOpen" | "mailSent">;
  notice: Notice | undefined;
  singleSignOn?: SingleSignOnChoices | undefined;
}): Html {
  const { notice, next, email, ways, singleSignOn } = options;
  return html`<div class="card narrow">
<h1>Sign in</h1>
${noticeBox(notice)}
<form method="post" action="/sign-in">
  <input type="hidden" name="next" value="${next}">
  ${emailField({ value: email, autofocus: !email })}
  ${passwordField({ name: "password", label: "Password", autocomplete: "current-password", autofocus: !!email })}
  <p class="choices"><button>Sign in</button>${ways.mailSent && html` <a href="/forgot-password">Forgot your password?</a>`}</p>
</form>
<p class="or"><span>or</span></p>
<p><a class="button quiet wide" href="/sign-in/passkey?next=${encodeURIComponent(next)}">Sign in with a passkey</a></p>
${singleSignOn && singleSignOnChoices(singleSignOn, next)}
${ways.signUpOpen && html`<p>New here? <a href="/sign-up">Create an account</a></p>`}
</div>`;
}

/** The second step of a sign-in. */
export function secondStepPage(options: { next: string; step: string; notice: Notice | undefined }): Html {
  const { next, step, notice } = options;
  return html`<div class="card narrow">
<h1>Enter a code</h1>
${noticeBox(notice)}
<form method="post" action="/sign-in/code">
  <input type="hidden" name="next" value="${next}">
  <input type="hidden" name="step" value="${step}">
  <label for="code">Code</label>
  <input id="code" name="code" autocomplete="one-time-code" autocapitalize="off" spellcheck="false" required maxlength="40" autofocus aria-describedby="code-hint">
  <p class="hint" id="code-hint">Enter the six digits that your authenticator app shows now, or one of your recovery codes. You have 5 minutes.</p>
  <p class="choices"><button>Sign in</button> <a class="button quiet" href="/sign-in?next=${encodeURIComponent(next)}">Start again</a></p>
</form>
</div>`;
}
