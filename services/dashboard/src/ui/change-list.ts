import { fieldTitle, valueText } from "@vvs/checks/words";
import { type Html, html } from "../http/html.ts";

/** A watched field that a monitor found changed; undefined values were or are absent. */
interface WatchedChange {
  /** The check and its field, such as `sam_registration.status`. */
  readonly field: string;
  readonly previous?: string;
  readonly current?: string;
}

/** Renders what a monitor found changed, in words, with the values before and after. */
export function changeList(changes: readonly WatchedChange[]): Html {
  return html`<ul class="plain changes">${changes.map(
    ({ field, previous, current }) =>
      html`<li>${fieldTitle(field)}: <del><span class="unseen">from </span>${valueText(field, previous)}</del> <span aria-hidden="true">→</span> <ins><span class="unseen">to </span>${valueText(field, current)}</ins></li>`,
  )}</ul>`;
}

/** Returns the same as one text, for rows of lists. */
export const changesText = (changes: readonly WatchedChange[]): string =>
  changes
    .map(
      ({ field, previous, current }) =>
        `${fieldTitle(field)}: ${valueText(field, previous)} → ${valueText(field, current)}`,
    )
    .join("; ");
