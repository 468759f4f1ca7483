import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { exactTime } from "@vvs/registration";
import { FORM_TOKEN } from "../http/form-token.ts";
import { type Html, html } from "../http/html.ts";
import { ago } from "./dates.ts";

/** A message above the content: what was done, or why it was not done. */
export interface Notice {
  readonly kind: "done" | "problem";
  readonly text: string;
}

export function noticeBox(notice: Notice | undefined): Html | undefined {
  if (!notice) return undefined;
  return html`<p class="notice ${notice.kind}" role="${notice.kind === "done" ? "status" : "alert"}">${notice.text}</p>`;
}

/** Renders a time in UTC, to the minute by default. */
export function time(at: Timestamp | undefined, to: "minute" | "second" = "minute"): Html | undefined {
  if (!at) return undefined;
  const date = timestampDate(at);
  return html`<time datetime="${date.toISOString()}">${exactTime(date, to)}</time>`;
}

/** Renders how long ago a time was; the exact time is shown on hover, and printed in its place. */
export function timeAgo(at: Timestamp | undefined, now: Date): Html | undefined {
  return at && ago(timestampDate(at), now);
}

export function formTokenField(token: string): Html {
  return html`<input type="hidden" name="${FORM_TOKEN}" value="${token}">`;
}

/** Renders code with a Copy button; the button stays hidden without its script. */
export function copyable(id: string, label: string, text: string): Html {
  return html`<div class="copyable">
<pre id="${id}" tabindex="0" aria-label="${label}"><code>${text}</code></pre>
<button type="button" class="quiet" data-copy="${id}" hidden>Copy</button>
</div>`;
}

/** Renders an id with a Copy button; the button stays hidden without its script. */
export function copyableId(id: string): Html {
  return html`<code>${id}</code> <button type="button" class="copy" data-copy-text="${id}" hidden>Copy<span class="unseen"> ${id}</span></button>`;
}

/** Renders an email address or a host so that it breaks after a punctuation mark rather than within a word. */
export function breakable(text: string): Html {
  return html`${text.split(/(?<=[@.:/?&=_-])/).flatMap((part, place) => (place > 0 ? [html`<wbr>`, part] : [part]))}`;
}

/** Renders a status label. Its text differs as well as its color, so that color is never the only sign. */
export function state(name: string, text: string = name): Html {
  return html`<span class="state ${name}">${text}</span>`;
}

/** Renders the cells of a table's row after its first, with numbers as text. */
export function numberCells(cells: readonly (readonly [label: string, text: string])[]): Html {
  return html`${cells.map(([label, text]) => html`<td data-label="${label}" class="number">${text}</td>`)}`;
}

type Facts = readonly (readonly [label: string, value: Html | string | false | undefined])[];

/** Renders labelled values; leaves out those that are unknown. */
export function facts(pairs: Facts): Html {
  return definitions("facts", pairs);
}

/** Renders labelled values as large numbers beside each other. */
export function stats(pairs: Facts): Html {
  return definitions("stats", pairs);
}

function definitions(className: string, pairs: Facts): Html {
  const known = pairs.filter(([, value]) => value);
  return html`<dl class="${className}">${known.map(([label, value]) => html`<div><dt>${label}</dt><dd>${value}</dd></div>`)}</dl>`;
}
