import { type Html, html } from "../http/html.ts";
import { noticeBox } from "../ui/parts.ts";

/** The second step of a sign-in. */
export function secondStepPage({ next, problem }: { next: string; problem?: string }): Html {
  return html`<div class="card narrow">
<h1>Enter a code</h1>
${noticeBox(problem ? { kind: "problem", text: problem } : undefined)}
<form method="post" action="/sign-in/code">
  <input type="hidden" name="next" value="${next}">
  <label for="code">Code</label>
  <input id="code" name="code" autocomplete="one-time-code" autocapitalize="off" spellcheck="false" required maxlength="40" autofocus aria-describedby="code-hint">
  <p class="hint" id="code-hint">Enter the six digits that your authenticator app shows now, or one of your recovery codes. You have 5 minutes.</p>
  <p class="choices"><button>Sign in</button> <a class="button quiet" href="/sign-in?next=${encodeURIComponent(next)}">Start again</a></p>
</form>
</div>`;
}
