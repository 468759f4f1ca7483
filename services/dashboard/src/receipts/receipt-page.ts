import { checkReceipt, type Receipt, ReceiptError, type ReceiptKeys } from "@vendor-verification/client";
import { type Check, checkDefinitions, checkNames } from "@vvs/checks";
import { outcomeName, reasonMeaning } from "@vvs/checks/words";
import { exactTime, longDay, utcDay } from "@vvs/registration";
import type { RequestHandler } from "express";
import { field, RECEIPTS_PATH } from "../http/form.ts";
import { type Html, html } from "../http/html.ts";
import type { PageContext } from "../page/page-context.ts";
import { VERBATIM } from "../ui/fields.ts";
import { card, checkTitle, facts, noticeBox, problemNotice, state } from "../ui/parts.ts";
import { providerName } from "../ui/vocabulary.ts";

const TITLE = "Check a receipt";
/** How long the public keys are kept before verification is asked again, in milliseconds. */
const KEPT_MS = 60_000;

/** Creates the handlers of the page that checks receipts. Errors: ServiceError service_unavailable without verification. */
export function createReceiptHandlers({
  verification,
  layout,
  now,
}: Pick<PageContext, "verification" | "layout" | "now">) {
  let known: { readonly keys: ReceiptKeys; readonly until: number } | undefined;

  async function readKeys(): Promise<ReceiptKeys> {
    if (known && now().getTime() < known.until) return known.keys;
    const keys = JSON.parse((await verification.getReceiptKeys({})).jwks) as ReceiptKeys;
    known = { keys, until: now().getTime() + KEPT_MS };
    return keys;
  }

  return {
    show: (_request, response) => layout.sendPage(response, { title: TITLE, content: page("") }),
    async check(request, response) {
      const text = field(request, "receipt").replaceAll(/\s/g, "");
      try {
        const receipt = await checkReceipt(text, await readKeys());
        layout.sendPage(response, { title: TITLE, content: page(text, genuine(receipt)) });
      } catch (error) {
        if (!(error instanceof ReceiptError)) throw error;
        const notice = problemNotice(`${error.message} It proves nothing.`);
        // The text is not shown again: it may be a TIN that was pasted by mistake.
        layout.sendPage(response, { title: TITLE, status: 400, notice, content: page("") });
      }
    },
  } satisfies Record<string, RequestHandler>;
}

function page(text: string, found?: Html): Html {
  return html`<p>A receipt proves what a verification of this service found, and that nobody has changed it since. This page needs no account, and keeps nothing.</p>
${found}
<form method="post" action="${RECEIPTS_PATH}" class="card">
  <label for="receipt">Receipt</label>
  <textarea id="receipt" name="receipt" class="receipt" rows="8" required${VERBATIM} aria-describedby="receipt-hint">${text}</textarea>
  <p class="hint" id="receipt-hint">Paste the whole text, from a certificate or a file. Spaces and line breaks do not matter.</p>
  <button>Check</button>
</form>`;
}

/** Renders what a genuine receipt says: all of it as JSON, and a verification for people. */
function genuine(receipt: Receipt): Html {
  const { iss, environment, verification } = receipt;
  const text = `This receipt is genuine. ${iss} signed it, and it was not changed since.`;
  return html`${noticeBox({ kind: "done", text })}
${environment !== "live" && html`<p class="notice warning">Test environment: the answers are invented. This proves nothing about a real vendor.</p>`}
${verification && verificationSection(receipt)}
<details><summary>All that it says</summary><pre tabindex="0"><code>${JSON.stringify(receipt, undefined, 2)}</code></pre></details>`;
}

function verificationSection(receipt: Receipt): Html {
  const { id, entity_id, overall_result, results, created_at } = receipt.verification;
  return card("verification", "Verification")`${facts([
    ["Result", outcome(overall_result)],
    ["Verified", exactTime(new Date(created_at))],
    ["Verification ID", html`<code>${id}</code>`],
    ["Vendor ID", html`<code>${entity_id}</code>`],
  ])}
${results.map((result) => resultSection(result, receipt))}`;
}

const outcome = (status: string) => state(status, outcomeName(status));
const isCheck = (name: string): name is Check => (checkNames as readonly string[]).includes(name);

function resultSection(result: Receipt["verification"]["results"][number], { evidence }: Receipt): Html {
  const { check_type, status, reason, origin, details, evidence_uri } = result;
  const rests = evidence.find(({ id }) => evidence_uri.endsWith(`/${id}`));
  return html`<h3>${isCheck(check_type) ? checkTitle(checkDefinitions[check_type].type) : check_type}</h3>
${facts([
  ["Result", outcome(status)],
  ["Reason", reason && (reasonMeaning(reason) ?? reason)],
  ["Source", origin !== "none" && providerName(origin)],
  ["Name asked about", details?.name],
  ["TIN asked about", details?.tin],
  ["Registered name", details?.legal_name],
  ["Registration", details?.registration_status],
  ["Expires", details?.expiration_date],
  ["Exclusions", exclusionsText(details?.exclusions)],
  ["Data as of", details?.data_as_of && longDay(utcDay(new Date(details.data_as_of)))],
  ["Evidence ID", rests ? html`<code>${rests.id}</code>` : "No longer kept when the receipt was made."],
  ["SHA-256 of the evidence", rests && hash(rests.sha256)],
  ...(rests?.sources ?? []).map(
    ({ part, origin, data_as_of, file, sha256 }) =>
      [
        part === "registration" ? "Registration from" : "Exclusions from",
        html`${providerName(origin)}${file && html` <code>${file}</code>`}, ${longDay(utcDay(new Date(data_as_of)))}${sha256 && html`<br>SHA-256 ${hash(sha256)}`}`,
      ] as const,
  ),
])}`;
}

const hash = (sha256: string): Html => html`<code class="hash">${sha256}</code>`;

function exclusionsText(exclusions: NonNullable<Receipt["verification"]["results"][number]["details"]>["exclusions"]) {
  if (!exclusions) return undefined;
  if (exclusions.length === 0) return "none";
  return exclusions.map(({ program, effect }) => [program, effect].filter(Boolean).join(", ")).join("; ");
}
