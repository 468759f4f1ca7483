import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { FORM_TOKEN } from "../http/form-token.ts";
import { type Html, html } from "../http/html.ts";

/** A message above the content: what was done, or why it was not. */
export interface Notice {
  readonly kind: "done" | "problem";
  readonly text: string;
}

export function noticeBox(notice: Notice | undefined): Html | undefined {
  if (!notice) return undefined;
  return html`<p class="notice ${notice.kind}" role="${notice.kind === "done" ? "status" : "alert"}">${notice.text}</p>`;
}

/** A moment in UTC, to the minute unless it is to be exact. */
export function time(at: Timestamp | undefined, to: "minute" | "second" = "minute"): Html | undefined {
  if (!at) return undefined;
  const iso = timestampDate(at).toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, to === "minute" ? 16 : 19)} UTC</time>`;
}

export function formTokenField(token: string): Html {
  return html`<input type="hidden" name="${FORM_TOKEN}" value="${token}">`;
}

/** Code to be copied; the button is there only where the script that serves it runs. */
export function copyable(id: string, label: string, text: string): Html {
  return html`<div class="copyable">
<pre id="${id}" tabindex="0" aria-label="${label}"><code>${text}</code></pre>
<button type="button" class="quiet" data-copy="${id}" hidden>Copy</button>
</div>`;
}

/** An outcome or a condition, told apart by its word as well as by its colour. */
export function state(name: string, text: string = name): Html {
  return html`<span class="state ${name}">${text}</span>`;
}

type Facts = readonly (readonly [label: string, value: Html | string | false | undefined])[];

/** Labelled values; those that are not known are left out. */
export function facts(pairs: Facts): Html {
  return definitions("facts", pairs);
}

/** The same as numbers beside each other, that tell at a glance how things are. */
export function stats(pairs: Facts): Html {
  return definitions("stats", pairs);
}

function definitions(className: string, pairs: Facts): Html {
  const known = pairs.filter(([, value]) => value);
  return html`<dl class="${className}">${known.map(([label, value]) => html`<div><dt>${label}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** In the place of what a page is about, while the service that has it is away. */
export function awayPage(title: string): Html {
  return html`<h1>${title}</h1>
<p class="notice problem" role="alert">This can’t be shown at the moment: the verification service is away. Nothing is lost, and API keys and webhooks can still be managed here. Try again in a moment.</p>`;
}
