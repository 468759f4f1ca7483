import { type Html, html } from "../http/html.ts";
import { noticeBox } from "./parts.ts";
import { type SingleSignOnChoices, singleSignOnChoices } from "./single-sign-on.ts";

export function signInPage(options: {
  next: string;
  email: string;
  problem?: string;
  notice?: string;
  singleSignOn?: SingleSignOnChoices | undefined;
}): Html {
  const { problem, notice, next, singleSignOn } = options;
  return html`<div class="card narrow">
<h1>Sign in</h1>
${noticeBox(problem ? { kind: "problem", text: problem } : notice ? { kind: "done", text: notice } : undefined)}
<form method="post" action="/sign-in">
  <input type="hidden" name="next" value="${options.next}">
  <label for="email">E-mail address</label>
  <input id="email" name="email" type="email" autocomplete="username" required maxlength="254" value="${options.email}"${!options.email && html` autofocus`}>
  <label for="password">Password</label>
  <input id="password" name="password" type="password" autocomplete="current-password" required maxlength="1024"${options.email && html` autofocus`}>
  <button>Sign in</button>
</form>
<p class="or"><span>or</span></p>
<p><a class="button quiet wide" href="/sign-in/passkey?next=${encodeURIComponent(next)}">Sign in with a passkey</a></p>
${singleSignOn && singleSignOnChoices(singleSignOn, next)}
</div>`;
}
