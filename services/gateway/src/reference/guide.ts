import { type Html, html } from "@vvs/http/html";
import { liveEntities, liveMonitors, type Plan, plans, requestsPerMinute, SANDBOX_MONITORS } from "@vvs/tenant/plans";
import { MAX_BODY_BYTES } from "../http/body.ts";
import { MAX_DEPTH } from "../http/json-text.ts";
import { MAX_CHECKS } from "../input/fields.ts";
import { MAX_ENTRIES } from "../input/identifiers.ts";
import { MAX_LIMIT } from "../input/page.ts";
import { changes } from "./changes.ts";
import type { Document } from "./document.ts";
import { codeBlock } from "./operation.ts";
import { errors, reasonTables } from "./refusals.ts";
import { table } from "./table.ts";

/** Returns a part of the page that is not about one operation. */
type Part = { readonly id: string; readonly title: string; readonly content: Html };

/** Returns what comes before the operations. */
export function introduction(baseUrl: string): readonly Part[] {
  return [
    { id: "start", title: "First steps", content: firstSteps(baseUrl) },
    { id: "command-line", title: "Command line", content: commandLine(baseUrl) },
    { id: "sandbox", title: "Sandbox", content: sandbox },
    { id: "identifiers", title: "Identifiers", content: identifiers },
    { id: "limits", title: "Plans and limits", content: limits },
    { id: "retries", title: "Retries", content: retries },
  ];
}

/** Returns what comes after the operations. */
export function appendix(document: Document): readonly Part[] {
  return [
    { id: "headers", title: "Headers", content: headers(document) },
    { id: "errors", title: "Errors", content: errors },
    { id: "reasons", title: "Reasons of results", content: reasonTables },
    { id: "changes", title: "Changes", content: changelog },
  ];
}

function firstSteps(baseUrl: string): Html {
  const shell = `export VENDOR_VERIFICATION_BASE_URL=${baseUrl}
export VENDOR_VERIFICATION_API_KEY=svc_test_...`;
  const idsInShell = `post() {
  curl -sS "$VENDOR_VERIFICATION_BASE_URL$1" -H "Authorization: Bearer $VENDOR_VERIFICATION_API_KEY" \\
    -H "Content-Type: application/json" -d "$2"
}
ENTITY_ID=$(post /v1/entities/lookup '{"identifiers":{"uei":"SANDBXACTVE1"}}' | grep -o 'ent_[0-9a-z]*' | head -n 1)
VERIFICATION=$(post /v1/verify '{"entity_id":"'"$ENTITY_ID"'","checks":["sam_registration"],"mode":"realtime"}')
VERIFICATION_ID=$(echo "$VERIFICATION" | grep -o 'ver_[0-9a-z]*' | head -n 1)
EVIDENCE_ID=$(echo "$VERIFICATION" | grep -o 'evd_[0-9a-z]*' | head -n 1)
MONITOR_ID=$(post /v1/monitors '{"entity_id":"'"$ENTITY_ID"'","checks":["sam_registration"]}' | grep -o 'mon_[0-9a-z]*' | head -n 1)
echo "$VERIFICATION"`;
  const client = `import { createClient } from "@vendor-verification/client";

const client = createClient({
  baseUrl: process.env.VENDOR_VERIFICATION_BASE_URL ?? "",
  apiKey: process.env.VENDOR_VERIFICATION_API_KEY ?? "",
});

const verification = await client.verify({
  identifiers: { uei: "SANDBXACTVE1" },
  checks: ["sam_registration"],
  mode: "realtime",
});
const { entity_id: entityId, id: verificationId } = verification;
const evidenceId = verification.results[0].evidence_uri;
const { id: monitorId } = await client.createMonitor({ entity_id: entityId, checks: ["sam_registration"] });`;
  return html`<p>Sign in to the dashboard, choose <em>API Keys</em> and create a test key. It is shown once. Send it with every call as <code>Authorization: Bearer</code>. A key has scopes; each operation names the one that it requires.</p>
<p>The calls on this page use these variables, and the <a href="#command-line">command line</a> reads them:</p>
${codeBlock("start-shell", "Shell", shell)}
<p>Some calls need ids. This looks up a vendor, verifies it, and monitors it:</p>
${codeBlock("start-ids", "Shell: get ids", idsInShell)}
<p>The same with the TypeScript client for Node.js 20 or newer. <code>npm pack</code> in <code>packages/client</code> of the service’s source makes it; <code>npm install ./vendor-verification-client-*.tgz</code> installs it:</p>
${codeBlock("start-client", "TypeScript client", client)}
<p>To receive your first webhook, go on with <a href="#try-webhooks">webhooks on your machine</a>. For Python, <code>pip install ./packages/client-python</code> in the folder of the service’s source installs a client with the same methods. For other languages generate one from <a href="/v1/openapi.json">the OpenAPI document</a>. To call the service from Postman, import <a href="/docs/postman.json">the collection</a>; set its variable <code>api_key</code> and run it.</p>`;
}

function commandLine(baseUrl: string): Html {
  const calls = `vendor-verification lookup --uei SANDBXACTVE1
vendor-verification verify --uei SANDBXACTVE1 --checks sam_registration
printf 'uei,legal_name\\nSANDBXACTVE1,\\nSANDBXFALLB1,\\n' > vendors.csv
vendor-verification verify vendors.csv --out results.csv
vendor-verification events`;
  const install = isLocal(baseUrl)
    ? html`<p>This service runs on your machine. In the folder from which it was started, this defines the command for your shell:</p>
${codeBlock("cli-local", "Shell", `alias vendor-verification="node '$PWD/deploy/bootstrap.mjs' '$PWD/packages/cli/src/main.ts'"`)}`
    : html`<p>It needs Node.js 20 or newer. <code>npm pack</code> in <code>packages/client</code> and in <code>packages/cli</code> of the service’s source makes two files; <code>npm install --global ./vendor-verification-c*.tgz</code> installs both.</p>
`;
  return html`${install}<p>With the variables above it is ready. To store the address and the key instead, use <code>vendor-verification login</code>. Each command describes itself with <code>--help</code>, and prints JSON with <code>--json</code>.</p>
${codeBlock("cli-calls", "Shell", calls)}`;
}

/** Is this the address of a local run? Its users have the packages as source. */
function isLocal(baseUrl: string): boolean {
  return ["127.0.0.1", "localhost"].includes(new URL(baseUrl).hostname);
}

const sandbox = html`<p>A test key sees a synthetic registry of more than 500 vendors, and providers that answer without delay. These UEIs always behave in the same way:</p>
${table(
  ["UEI", "sam_registration"],
  [
    ["`SANDBXACTVE1`", "pass: active"],
    ["`SANDBXNACTV1`", "fail: inactive"],
    ["`SANDBXEXPRD1`", "fail: expired"],
    ["`SANDBXDEBAR1`", "fail: debarred"],
    ["`SANDBXERRR01`", "error: no provider answers"],
    ["`SANDBXFALLB1`", "pass: the first provider does not answer, the second does (`origin` is `sandbox_secondary`)"],
    ["`SANDBXCHNGE1`", "alternates between active and expired, so a monitor on it always reports a change"],
    [
      "`SANDBXEXP10D`, `SANDBXEXP40D`, `SANDBXEXP80D`",
      "pass: active, and the registration ends 10, 40 or 80 days after the verification",
    ],
  ],
)}
<p>For <code>tin_match</code> the last digit of the TIN decides. It is the result code of the IRS:</p>
${table(
  ["Last digit", "tin_match"],
  [
    ["0, 6, 7, 8", "pass"],
    ["2", "fail: the TIN was not issued"],
    ["3", "fail: the name does not match"],
    ["1, 4, 5", "error: no provider answers"],
    ["9", "pass: the first provider does not answer, the second does"],
  ],
)}
<p>Other vendors of the registry answer by their registration status. One that you created fails with <code>not_found</code>. During the first hour of a monitor <code>hourly</code> is every 5 s, <code>daily</code> every 15 s, <code>weekly</code> and <code>monthly</code> every 60 s.</p>
<p>At most 1,000 events an hour of an organization are delivered in the sandbox, unless the operator sets another number. A delivery beyond them fails as <code>sandbox_limit</code>; its event is in the history.</p>`;

const identifiers = html`${table(
  ["Type", "Form"],
  [
    ["`uei`", "12 letters and digits"],
    ["`cage`", "5 letters and digits"],
    ["`duns`", "9 digits"],
    ["`tin`", "9 digits. It is stored encrypted and shown only as `****` and its last four digits."],
  ],
)}
<p>Values are trimmed and upper-cased, and spaces and dashes are removed. Both spellings mean the same:</p>
<pre tabindex="0"><code>{ "identifiers": { "uei": "SANDBXACTVE1", "tin": "12-3456780" } }
{ "identifiers": [{ "type": "uei", "value": "SANDBXACTVE1" }, { "type": "tin", "value": "12-3456780" }] }</code></pre>
<p>Answers always use the first. In a list, equal values of one type count once, and different ones are 400.</p>
<p>Creating and verifying refuse with 400 what can’t be an identifier: text such as <code>N/A</code>, <code>UNKNOWN</code> or only zeros (leave the identifier out), TINs such as <code>123456789</code>, <code>987654321</code> or nine equal digits, and UEIs that begin with <code>SANDBX</code> where the key is live. In a look-up such values match nothing, and the message of the 404 says what is odd, also about a UEI that seems mistyped.</p>`;

const count = (number: number) => number.toLocaleString("en-US");

function limitRow(name: string, limitOf: (plan: Plan) => number | undefined): string[] {
  return [name, ...plans.map(limitOf).map((limit) => (limit === undefined ? "agreed" : count(limit)))];
}

const limits = html`${table(
  ["Limit", ...plans.map((plan) => `${plan[0]!.toUpperCase()}${plan.slice(1)}`)],
  [
    limitRow("Requests per minute and key", (plan) => (plan === "enterprise" ? undefined : requestsPerMinute[plan])),
    limitRow("Active monitors, live", (plan) => liveMonitors[plan]),
    limitRow("Created entities, live", (plan) => liveEntities[plan]),
    limitRow("Active monitors, sandbox", () => SANDBOX_MONITORS),
  ],
)}
<p>The minute slides. Every answer to a valid key says what is left (<a href="#headers">headers</a>); 429 says in <code>Retry-After</code> when to repeat the call. A plan’s cap on monitors or entities is 403 <code>limit_exceeded</code>.</p>
<p>A body has at most ${count(MAX_BODY_BYTES / 1_000)} kB, a page of a list at most ${count(MAX_LIMIT)} items, a call at most ${count(MAX_CHECKS)} checks, any other array at most ${count(MAX_ENTRIES)} entries. JSON is nested at most ${count(MAX_DEPTH)} levels deep.</p>`;

const retries = html`<p>Repeat a call after 429, 503 or a lost connection, and wait as long as <code>Retry-After</code> says. GET, PUT and DELETE can always be repeated. Send POST with an <code>Idempotency-Key</code>, a new one for each effect that you want: then a repeated call has no second effect, and within 24 h it gets the first answer again with <code>Idempotency-Replayed: true</code>.</p>
<p>Pages: send <code>next_cursor</code> as <code>cursor</code> until it is null. To follow changes, use <a href="#listEvents"><code>after</code></a>.</p>`;

function headers({ components }: Document): Html {
  return table(
    ["Header of an answer", "Meaning"],
    Object.entries(components.headers).map(([name, { description }]) => [`\`${name}\``, description]),
  );
}

const changelog = html`<p>Fields, values, headers and operations may be added at any time: ignore those that you do not know. A breaking change comes as <code>/v2</code>; 12 months before the old version ends its answers carry <code>Deprecation</code> and <code>Sunset</code>.</p>
${table(["Date", "What is new"], changes)}`;
