import { fieldTitle, valueText } from "@vvs/checks/words";
import { type Html, html } from "../http/html.ts";

/** A watched field that a monitor found changed; undefined values were or are absent. */
interface WatchedChange {
  /** The check and its field, such as `sam_registration.status`. */
  readonly field: string;
  readonly previous?: string;
  readonly current?: string;
}

/** Only of a TIN are both values equal: it is masked. */
const currentText = ({ field, previous, current }: WatchedChange) =>
  current && previous === current ? "another with the same last digits" : valueText(field, current);

/** Renders what a monitor found changed, in words, with the values before and after. */
export function changeList(changes: readonly WatchedChange[]): Html {
  return html`<ul class="plain changes">${changes.map(
    (change) =>
      html`<li>${fieldTitle(change.field)}: <del><span class="unseen">from </span>${valueText(change.field, change.previous)}</del> <span aria-hidden="true">→</span> <ins><span class="unseen">to </span>${currentText(change)}</ins></li>`,
  )}</ul>`;
}

/** Returns the same as one text, for rows of lists. */
export const changesText = (changes: readonly WatchedChange[]): string =>
  changes
    .map(
      (change) => `${fieldTitle(change.field)}: ${valueText(change.field, change.previous)} → ${currentText(change)}`,
    )
    .join("; ");
