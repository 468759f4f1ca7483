import { html } from "@vvs/http/html";
import { codeBlock } from "./operation.ts";

/** A function without dependencies that checks the signature of a webhook. */
const verifySnippet = `import { createHmac, timingSafeEqual } from "node:crypto";

/** Returns the event, or throws. body: the bytes as received; headers: lower-case names; secret: whsec_... */
export function verifyWebhook(body, headers, secret) {
  const id = headers["webhook-id"];
  const timestamp = headers["webhook-timestamp"];
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300)) throw new Error("too old");
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const expected = createHmac("sha256", key).update(\`\${id}.\${timestamp}.\`).update(body).digest();
  const isGenuine = (headers["webhook-signature"] ?? "").split(" ").some((one) => {
    const sent = Buffer.from(one.replace(/^v1,/, ""), "base64");
    return sent.length === expected.length && timingSafeEqual(sent, expected);
  });
  if (!isGenuine) throw new Error("not signed with this secret");
  return JSON.parse(body);
}`;

/** A program that receives webhooks. */
const receiverSnippet = `import { createServer } from "node:http";
import { verifyWebhook } from "./verify-webhook.mjs";

const { PORT, WEBHOOK_SECRET } = process.env;
createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  try {
    const event = verifyWebhook(Buffer.concat(chunks), request.headers, WEBHOOK_SECRET);
    console.log("Verified:", request.headers["webhook-id"], event);
    response.writeHead(204).end();
  } catch (error) {
    console.error("Refused:", error.message);
    response.writeHead(400).end();
  }
}).listen(PORT);`;

/** Starts the program, and forwards events to it. */
const listenSnippet = `export PORT=\${PORT:-3000} WEBHOOK_SECRET="whsec_$(head -c 32 /dev/urandom | base64)"
node receiver.mjs &
vendor-verification listen --forward-to "http://localhost:$PORT/hook" --secret "$WEBHOOK_SECRET" &`;

/** How a subscriber handles webhooks. */
export const webhookGuide = html`<p>When a monitor detects changes we post them to its <code>webhook_url</code>. Answer 2xx within 15 s; anything else is retried for 24 h. The dashboard shows the signing secret, every attempt, and can send a test event or replay a delivery.</p>
<ol>
<li>Read the body as bytes, and check the signature before you parse it. Answer 400 to what does not verify.</li>
<li>Remember <code>webhook-id</code>: the same event can come twice.</li>
<li>Store the event, answer, and do the work afterwards.</li>
</ol>
${codeBlock("webhook-verify", "verify-webhook.mjs: checks a signature (Node.js, no dependencies)", verifySnippet)}
<p>Libraries of <a href="https://www.standardwebhooks.com">Standard Webhooks</a> accept <code>webhook-signature</code>, and those of Stripe <code>X-Service-Signature</code>, in every language. The TypeScript client has <code>verifyWebhook</code>.</p>
<h3 id="try-webhooks">Webhooks on your machine</h3>
<p>Save the code above as <code>verify-webhook.mjs</code> and this program beside it as <code>receiver.mjs</code>:</p>
${codeBlock("webhook-receiver", "receiver.mjs: prints events that verify", receiverSnippet)}
<p>Start it, and forward events to it with the <a href="#command-line">command line</a>. It reads them from us and signs them as we do, so you need no public address. If another program has port 3000, set <code>PORT</code> first:</p>
${codeBlock("webhook-listen", "Shell", listenSnippet)}
<p>When it says that it forwards, make a change. Within some seconds the program prints the verified event:</p>
${codeBlock("webhook-trigger", "Shell", "vendor-verification trigger")}
<p>Later, create a monitor with your public <code>webhook_url</code>, and give your program the signing secret from <em>Webhooks</em> in the dashboard. To try it, monitor the sandbox vendor <code>SANDBXCHNGE1</code> with <code>"frequency": "hourly"</code>: it changes every 5 s, until you cancel the monitor.</p>`;
