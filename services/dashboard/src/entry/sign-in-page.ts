import { type Html, html } from "../http/html.ts";
import { noticeBox } from "../ui/parts.ts";
import { type SingleSignOnChoices, singleSignOnChoices } from "./single-sign-on-page.ts";

/** What the sign-in page offers besides signing in. */
export interface EntryOptions {
  readonly signUpOpen: boolean;
  readonly mailSent: boolean;
}

export function signInPage(options: {
  next: string;
  email: string;
  ways: EntryOptions;
  problem?: string;
  notice?: string;
  singleSignOn?: SingleSignOnChoices | undefined;
}): Html {
  const { problem, notice, next, ways, singleSignOn } = options;
  return html`<div class="card narrow">
<h1>Sign in</h1>
${noticeBox(problem ? { kind: "problem", text: problem } : notice ? { kind: "done", text: notice } : undefined)}
<form method="post" action="/sign-in">
  <input type="hidden" name="next" value="${options.next}">
  <label for="email">Email address</label>
  <input id="email" name="email" type="email" autocomplete="username" required maxlength="254" value="${options.email}"${!options.email && html` autofocus`}>
  <label for="password">Password</label>
  <input id="password" name="password" type="password" autocomplete="current-password" required maxlength="1024"${options.email && html` autofocus`}>
  <p class="choices"><button>Sign in</button>${ways.mailSent && html` <a href="/forgot-password">Forgot your password?</a>`}</p>
</form>
<p class="or"><span>or</span></p>
<p><a class="button quiet wide" href="/sign-in/passkey?next=${encodeURIComponent(next)}">Sign in with a passkey</a></p>
${singleSignOn && singleSignOnChoices(singleSignOn, next)}
${ways.signUpOpen && html`<p>New here? <a href="/sign-up">Create an account</a></p>`}
</div>`;
}
