import { html } from "@vvs/http/html";

/** What to check before a program goes live. */
export const goLive = html`<p>A live key answers with real data. Go through this list once before the first real payment depends on it:</p>
<ol>
<li><strong>Live key.</strong> Create one live key for each program under <em>API Keys</em>, let it expire, and keep it in your secret store. Before it expires, <em>Roll</em> it: both keys work while you deploy the new one.</li>
<li><strong>Scopes.</strong> Give the key only the scopes that its <a href="#job-verify">operations</a> name. A missing one is <a href="#error-forbidden"><code>forbidden</code></a>.</li>
<li><strong>TIN approval.</strong> Live <code>tin_match</code> must be enabled for your organization by the operator; <em>Organization</em> in the dashboard shows whether it is. Until then its results are <a href="#reason-not_enabled"><code>not_enabled</code></a>.</li>
<li><strong>Results.</strong> Only <code>pass</code> is a pass. <code>error</code> says nothing about the vendor: handle its <a href="#reasons">reasons</a>, and never count it as <code>fail</code>. Ignore fields and values that you do not know.</li>
<li><strong>Retries.</strong> Send an <code>Idempotency-Key</code> with every POST, and <a href="#retries">repeat</a> what is 429, 503 or was interrupted. Set the timeout of your HTTP client to 30 s: the service answers within 25.</li>
<li><strong>Limits.</strong> Compare the vendors that you have with <a href="#limits">your plan</a>: requests per minute, active monitors, created entities. Handle <a href="#error-rate_limited"><code>rate_limited</code></a> and <a href="#error-limit_exceeded"><code>limit_exceeded</code></a>.</li>
<li><strong>Webhooks.</strong> Live webhooks have a secret of their own, under <em>Webhooks</em>, and need <code>https</code>. <a href="#webhook-guide">Verify</a> every request, handle each <code>webhook-id</code> once, and answer within 15 s. Send a test event from the dashboard, then rotate the secret once: nothing may be refused.</li>
<li><strong>Monitors.</strong> Create one for each vendor that you pay, with your own number as <code>external_id</code>. Its first run is the baseline and reports nothing. Look at <code>last_run</code> and <code>consecutive_errors</code> of <a href="#getMonitor">monitors</a>: they say whether the checks work.</li>
<li><strong>Events.</strong> <a href="#keep-events">Keep a copy of all events</a>, also if you receive webhooks: it has what an outage of yours missed.</li>
<li><strong>Expirations.</strong> <code>details.expiration_date</code> is the last day of a registration. A monitor also runs on the day after it; remind the vendor earlier, with the dates of your <a href="#listVerifications">verifications</a>.</li>
<li><strong>Evidence.</strong> Store the id of the verification beside each payment. Its <a href="#getEvidence">evidence</a> has the answer as received, with its SHA-256, and is kept for 7 years. A <a href="#receipts">receipt</a> proves the result to others, also when nobody can ask this service.</li>
</ol>`;
