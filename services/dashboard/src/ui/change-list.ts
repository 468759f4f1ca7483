import { type Check, checkNames, toCheckType } from "@vvs/checks";
import { longDay } from "@vvs/registration";
import { type Html, html } from "../http/html.ts";
import { checkTitle, outcomeName } from "./parts.ts";
import { reasonMeaning } from "./vocabulary.ts";

/** A watched field that a monitor found changed; undefined values were or are absent. */
interface WatchedChange {
  /** The check and its field, such as `sam_registration.status`. */
  readonly field: string;
  readonly previous?: string;
  readonly current?: string;
}

const titles: Readonly<Record<string, string>> = {
  registration_status: "Registration",
  expiration_date: "Registered until",
  legal_name: "Registered name",
  cage: "CAGE code in SAM.gov",
  entity_type: "Legal form",
  tin: "TIN asked about",
  name: "Name asked about",
  exclusion_effect: "Exclusion",
};

const exclusionEffects: Readonly<Record<string, string>> = {
  bar: "excluded from federal awards",
  facility: "one of its facilities excluded",
  product: "some products restricted",
};

/** Returns the name of a watched field for people; one that this version does not know is shown by its code. */
function fieldTitle(field: string): string {
  const [check = "", name = ""] = field.split(".");
  const of = isCheck(check) ? checkTitle(toCheckType(check)) : check;
  if (name === "status") return of;
  if (name === "reason") return `Reason (${of})`;
  return titles[name] ?? field;
}

/** Returns the value of a watched field for people. */
function valueText(field: string, value: string | undefined): string {
  if (value === undefined || value === "") return "none";
  const [, name] = field.split(".");
  if (name === "status") return outcomeName(value);
  if (name === "expiration_date") return longDay(value);
  if (name === "exclusion_effect") return exclusionEffects[value] ?? value;
  return name === "reason" ? (reasonMeaning(value) ?? value) : value;
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

const isCheck = (text: string): text is Check => checkNames.includes(text as Check);
