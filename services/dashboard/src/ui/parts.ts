import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { type CheckStatus, checkDefinitions, checkOf, statusOf } from "@vvs/checks";
import { outcomeName } from "@vvs/checks/words";
import type { CheckType, CheckStatus as ProtoCheckStatus } from "@vvs/proto/common/v1/common";
import { exactTime, longDay } from "@vvs/registration";
import type { Request } from "express";
import type { EnvironmentView } from "../http/environments.ts";
import { FORM_TOKEN } from "../http/form-token.ts";
import { type Html, html } from "../http/html.ts";
import { confirmPath } from "../http/next-path.ts";
import type { Visit } from "../http/session.ts";
import { counted } from "./vocabulary.ts";

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

export function formTokenField({ forms }: Pick<Visit, "forms">): Html {
  return html`<input type="hidden" name="${FORM_TOKEN}" value="${forms.token()}">`;
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

/** Returns the tag of a section of a page, which its heading names. What it holds follows as after `html`. */
export const section =
  (id: string, title: string, className = "", headingClass = "") =>
  (...content: Parameters<typeof html>): Html =>
    html`<section${className && html` class="${className}"`} aria-labelledby="${id}">
<h2 id="${id}"${headingClass && html` class="${headingClass}"`}>${title}</h2>
${html(...content)}
</section>`;

/** Returns the same for a section on a card; an unseen heading is only read aloud. */
export const card = (id: string, title: string, headingClass?: "unseen") => section(id, title, "card", headingClass);

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

/** The notice after a form that was answered with a request for the password. */
export const CONFIRMED = "Your identity is confirmed. Your previous action was not carried out yet. Start it again.";

/** Returns the notice that the `done` parameter of the page's address names. A notice that is only a text says what was done. */
export function noticeOf(
  { query: { done } }: Pick<Request, "query">,
  notices: Readonly<Record<string, Notice | string>>,
): Notice | undefined {
  if (typeof done !== "string" || !Object.hasOwn(notices, done)) return undefined;
  const notice = notices[done]!;
  return typeof notice === "string" ? { kind: "done", text: notice } : notice;
}

/** Renders, in place of a form that needs a confirmed identity, why it is not shown and the way to it. `why` says what it can do. */
export const confirmFirst = (view: EnvironmentView, page: string, why: string): Html =>
  html`<p>${why} You last confirmed your identity more than 15 minutes ago, so confirm it first.</p>
<p><a class="button" href="${confirmPath(view, "GET", view.path + page)}">Confirm your identity</a></p>`;

export const problemNotice = (text: string): Notice => ({ kind: "problem", text });

const MINUTE_MS = 60_000;
const UNITS = [
  ["year", 365 * 24 * 60 * MINUTE_MS],
  ["month", 30 * 24 * 60 * MINUTE_MS],
  ["day", 24 * 60 * MINUTE_MS],
  ["hour", 60 * MINUTE_MS],
  ["minute", MINUTE_MS],
] as const;

/** Returns a duration in its largest whole unit, such as "3 hours"; undefined for less than a minute. */
function durationText(ms: number): string | undefined {
  const [unit, lengthMs] = UNITS.find(([, each]) => ms >= each) ?? [];
  return unit && counted(Math.floor(ms / lengthMs!), unit);
}

/** Returns how long ago a time was in its largest whole unit, such as "3 hours ago"; "just now" for less than a minute. */
export function agoText(at: Date, now: Date): string {
  const passed = durationText(now.getTime() - at.getTime());
  return passed ? `${passed} ago` : "just now";
}

/** Returns how far ahead a time is, such as "in 3 hours"; "within a minute" for less than that, and for times that passed. */
export function untilText(at: Date, now: Date): string {
  const left = durationText(at.getTime() - now.getTime());
  return left ? `in ${left}` : "within a minute";
}

/** Returns how old data was at the time of the check. */
export function ageText(seconds: number): string {
  const age = durationText(seconds * 1_000);
  return age ? `${age} old` : "as of the check";
}

/** Renders a day (YYYY-MM-DD) in words. */
export function dayTime(day: string): Html {
  return html`<time datetime="${day}">${longDay(day)}</time>`;
}

/** Renders how long ago a time was; the exact time is shown on hover, and printed in its place. */
export function ago(at: Date, now: Date): Html {
  return withExact(at, agoText(at, now));
}

/** Renders how far ahead a time is; the exact time is shown on hover, and printed in its place. */
export function until(at: Date, now: Date): Html {
  return withExact(at, untilText(at, now));
}

function withExact(at: Date, text: string): Html {
  return html`<time datetime="${at.toISOString()}" title="${exactTime(at)}"><span class="unprinted">${text}</span></time>`;
}

/** Returns the name of a check in the API, or its number where this version does not know it yet. */
export function checkName(type: CheckType): string {
  return checkOf(type) ?? `check ${type}`;
}

/** Returns the name of a check for people. */
export function checkTitle(type: CheckType): string {
  const check = checkOf(type);
  return check ? checkDefinitions[check].title : checkName(type);
}

/** Returns pass, fail or error; a status that this version does not know shows as an error. */
export function statusName(status: ProtoCheckStatus): CheckStatus {
  return statusOf(status) ?? "error";
}

/** Renders the outcome of a check or a verification as a label. */
export function outcomeState(status: ProtoCheckStatus): Html {
  const name = statusName(status);
  return state(name, outcomeName(name));
}
