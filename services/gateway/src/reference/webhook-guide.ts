import { html } from "@vvs/http/html";
import { codeBlock } from "./code.ts";
import { program } from "./programs.ts";

/** Starts a receiver, and forwards events to it. */
const listen = (start: string) => `export PORT=\${PORT:-3000} WEBHOOK_SECRET="whsec_$(head -c 32 /dev/urandom | base64)"
${start} &
vendor-verification listen --forward-to "http://localhost:$PORT/hook" --secret "$WEBHOOK_SECRET" &`;

/** How a subscriber handles webhooks. */
export const webhookGuide = html`<h3 id="webhook-guide">Handle webhooks</h3>
<p>When a monitor detects changes we post them to its <code>webhook_url</code>. Answer 2xx within 15 s; anything else is retried for 24 h. The dashboard shows the signing secret, every attempt, and can send a test event or replay a delivery.</p>
<ol>
<li>Read the body as bytes, and check the signature before you parse it. Answer 400 to what does not verify.</li>
<li>Remember <code>webhook-id</code>: the same event can come twice.</li>
<li>Store the event, answer, and do the work afterwards.</li>
</ol>
${codeBlock("webhook-verify", "verify-webhook.mjs: checks a signature (Node.js, no dependencies)", program("verify-webhook.mjs"), "curl", "typescript")}
<p data-for="python">The Python client has <code>verify_webhook</code>, which does that. The program below uses it.</p>
<p data-for="go">The program below does that with the standard library alone.</p>
<p>Libraries of <a href="https://www.standardwebhooks.com">Standard Webhooks</a> accept <code>webhook-signature</code>, and those of Stripe <code>X-Service-Signature</code>, in every language. The TypeScript client has <code>verifyWebhook</code>.</p>
<h3 id="try-webhooks">Webhooks on your machine</h3>
<p data-for="curl typescript">Save the code above as <code>verify-webhook.mjs</code> and this program beside it as <code>receiver.mjs</code>:</p>
<p data-for="python">Install the <a href="#start">client</a>, and save this program as <code>receiver.py</code>:</p>
<p data-for="go">Save this program as <code>receiver.go</code>:</p>
${codeBlock("webhook-receiver", "receiver.mjs", program("receiver.mjs"), "curl", "typescript")}
${codeBlock("webhook-receiver-python", "receiver.py", program("receiver.py"), "python")}
${codeBlock("webhook-receiver-go", "receiver.go", program("receiver.go"), "go")}
<p>Start it, and forward events to it with the <a href="#command-line">command line</a>. It reads them from us and signs them as we do, so you need no public address. If another program has port 3000, set <code>PORT</code> first:</p>
${codeBlock("webhook-listen", "Shell", listen("node receiver.mjs"), "curl", "typescript")}
${codeBlock("webhook-listen-python", "Shell", listen("python3 receiver.py"), "python")}
${codeBlock("webhook-listen-go", "Shell", `go build receiver.go\n${listen("./receiver")}`, "go")}
<p>When it says that it forwards, make a change. Within some seconds the program prints the verified event:</p>
${codeBlock("webhook-trigger", "Shell", "vendor-verification trigger")}
<p>Later, create a monitor with your public <code>webhook_url</code>, and give your program the signing secret from <em>Webhooks</em> in the dashboard. To try it, monitor the sandbox vendor <code>SANDBXCHNGE1</code> with <code>"frequency": "hourly"</code>: it changes every 5 s, until you cancel the monitor.</p>`;
