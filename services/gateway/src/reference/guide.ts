import { type Html, html } from "@vvs/http/html";
import {
  liveEntities,
  liveMonitors,
  openJobRows,
  type Plan,
  plans,
  requestsPerMinute,
  SANDBOX_MONITORS,
} from "@vvs/tenant/plans";
import { MAX_BODY_BYTES, MAX_JOB_BYTES, MAX_VENDOR_BYTES, MAX_VENDORS } from "../http/body.ts";
import { MAX_DEPTH } from "../http/json-text.ts";
import { MAX_CHECKS } from "../input/fields.ts";
import { MAX_ENTRIES } from "../input/identifiers.ts";
import { MAX_LIMIT } from "../input/page.ts";
import { changes } from "./changes.ts";
import type { Document } from "./document.ts";
import { commandLine, firstSteps } from "./first-steps.ts";
import { goLive } from "./go-live.ts";
import { keepEvents } from "./keep-events.ts";
import { manyVendors } from "./many-vendors.ts";
import { receiptsGuide } from "./receipts-guide.ts";
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
    { id: "many-vendors", title: "Verify 10,000 vendors", content: manyVendors },
    { id: "go-live", title: "Go live", content: goLive },
    { id: "keep-events", title: "Keep a copy of all events", content: keepEvents },
  ];
}

/** Returns what comes after the operations. */
export function appendix(document: Document): readonly Part[] {
  return [
    { id: "receipts", title: "Check a receipt", content: receiptsGuide },
    { id: "headers", title: "Headers", content: headers(document) },
    { id: "errors", title: "Errors", content: errors },
    { id: "reasons", title: "Reasons of results", content: reasonTables },
    { id: "changes", title: "Changes", content: changelog },
  ];
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
    [
      "`SANDBXSAMEN2`",
      "pass: active, but an exclusion without a UEI and a CAGE bears its name (`details.same_name`), so the decision is `review`",
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
    limitRow("Rows of jobs without their last answer", (plan) => openJobRows[plan]),
  ],
)}
<p>The minute slides. Every answer to a valid key says what is left (<a href="#headers">headers</a>); 429 says in <code>Retry-After</code> when to repeat the call. A plan’s cap on monitors or entities is 403 <code>limit_exceeded</code>, one on rows of jobs 409 <code>too_many_rows</code>.</p>
<p>A body has at most ${count(MAX_BODY_BYTES / 1_000)} kB, a page of a list at most ${count(MAX_LIMIT)} items, a call at most ${count(MAX_CHECKS)} checks, any other array at most ${count(MAX_ENTRIES)} entries. A <a href="#createJob">job</a> has at most ${count(MAX_VENDORS)} vendors of at most ${count(MAX_VENDOR_BYTES / 1_000)} kB each in at most ${count(MAX_JOB_BYTES / 1_000_000)} MB. JSON is nested at most ${count(MAX_DEPTH)} levels deep.</p>`;

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
