import { type Html, html } from "../http/html.ts";
import type { Problem } from "../http/problem.ts";

export function problemPage(problem: Problem, requestId: string): Html {
  return html`<div class="card narrow">
<p class="eyebrow">Error ${problem.status}</p>
<h1>${problem.title}</h1>
<p>${problem.text}</p>
<p><a class="button" href="/">Go to the dashboard</a></p>
<p class="hint">If you contact support, include the request ID <code>${requestId}</code>.</p>
</div>`;
}
