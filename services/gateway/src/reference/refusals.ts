import { type Reason, reasonAnchor, reasons, whatToDo } from "@vvs/checks";
import { advice, catalogue, type ErrorCode } from "@vvs/errors";
import { type Html, html } from "@vvs/http/html";
import { errorAnchor } from "../http/errors.ts";
import { table } from "./markdown.ts";

const codes = Object.keys(catalogue) as ErrorCode[];

/** What clients do about each error. */
export const errors = html`<p>The body is <code>{error, message, request_id, doc_url, details?}</code>. <code>error</code> is for programs and never changes; <code>message</code> says what to do; <code>doc_url</code> leads to the row of the error below. Quote <code>request_id</code> when you ask for help. A request that does not arrive in time is 408, headers of more than 16 kB are 431, both with <code>invalid_request</code>.</p>
${table(
  ["Error", "Status", "Cause", "What to do"],
  codes.map((code) => [`\`${code}\``, String(catalogue[code].http), advice[code].cause, advice[code].remedy]),
  (row) => errorAnchor(codes[row]!),
)}`;

/** What clients do about each reason of a result, or of an attempt in its evidence. */
export const reasonTables = html`<p>A verification is 200 also where a check is <code>fail</code> or <code>error</code>; its <code>reason</code> then says why. <code>fail</code> is about the vendor. <code>error</code> is not: nothing was found out, so ask again or complete the input, and never count it as <code>fail</code>.</p>
${reasonTable((reason) => reason.of !== "attempt")}
<p>The evidence lists each attempt at a provider. An attempt that gave no answer has a reason too:</p>
${reasonTable((reason) => reason.of === "attempt")}`;

function reasonTable(belongs: (reason: Reason) => boolean): Html {
  const rows = Object.entries<Reason>(reasons).filter(([, reason]) => belongs(reason));
  return table(
    ["Reason", "Of", "Meaning", "What to do"],
    rows.map(([name, reason]) => [`\`${name}\``, reason.of, reason.meaning, whatToDo(reason)]),
    (row) => reasonAnchor(rows[row]![0]),
  );
}
