import { longDay } from "@vvs/registration";
import { type Check, checkDefinitions, checkNames, reasonOf, whatToDo } from "./index.ts";

/** Texts for people: the dashboard's pages and account's emails say the same. */

const outcomeNames: Readonly<Record<string, string>> = { pass: "passed", fail: "failed", error: "no answer" };

/** Returns the outcome of a check or a verification for people; a code that this version does not know as it is. */
export function outcomeName(code: string): string {
  return outcomeNames[code] ?? code;
}

/** Returns the explanation of a reason, with what to do after an error; undefined if this version does not know it. */
export function reasonMeaning(code: string): string | undefined {
  const [, status] = /^http_(\d{3})$/.exec(code) ?? [];
  if (status) return `The provider answered with HTTP status ${status}.`;
  const [, irsCode] = /^irs_code_(\d+)$/.exec(code) ?? [];
  if (irsCode) return `The IRS answered with result code ${irsCode}, which says nothing about the vendor.`;
  const reason = reasonOf(code);
  if (reason?.of !== "error") return reason?.meaning;
  return `${reason.meaning} ${reason.action === "correct" ? reason.remedy : whatToDo(reason)}`;
}

const fieldTitles: Readonly<Record<string, string>> = {
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

/** Returns the name of a watched field (`<check>.<name>`); one that this version does not know as it is. */
export function fieldTitle(field: string): string {
  const [check = "", name = ""] = field.split(".");
  const of = checkNames.includes(check as Check) ? checkDefinitions[check as Check].title : check;
  if (name === "status") return of;
  if (name === "reason") return `Reason (${of})`;
  return fieldTitles[name] ?? field;
}

/** Returns the value of a watched field; "none" where there is none. */
export function valueText(field: string, value: string | undefined): string {
  if (value === undefined || value === "") return "none";
  const [, name] = field.split(".");
  if (name === "status") return outcomeName(value);
  if (name === "expiration_date") return longDay(value);
  if (name === "exclusion_effect") return exclusionEffects[value] ?? value;
  return name === "reason" ? (reasonMeaning(value) ?? value) : value;
}
