import { type Check, type CheckStatus, checkOf, statusOf } from "@vvs/checks";
import type { CheckType, CheckStatus as ProtoCheckStatus } from "@vvs/proto/common/v1/common";
import type { Html } from "../http/html.ts";
import { state } from "./parts.ts";

const titles: Readonly<Record<Check, string>> = {
  sam_registration: "SAM.gov registration",
  tin_match: "TIN match",
};

/** Returns the name of a check in the API, or its number where this version does not know it yet. */
export function checkName(type: CheckType): string {
  return checkOf(type) ?? `check ${type}`;
}

/** Returns the name of a check for people. */
export function checkTitle(type: CheckType): string {
  const check = checkOf(type);
  return check ? titles[check] : checkName(type);
}

/** Returns pass, fail or error; a status that this version does not know shows as an error. */
export function statusName(status: ProtoCheckStatus): CheckStatus {
  return statusOf(status) ?? "error";
}

const outcomeNames: Readonly<Record<string, string>> = { pass: "passed", fail: "failed", error: "no answer" };

/** Returns the outcome of a check or a verification for people; a code that this version does not know as it is. */
export function outcomeName(code: string): string {
  return outcomeNames[code] ?? code;
}

/** Renders the outcome of a check or a verification as a label. */
export function outcomeState(status: ProtoCheckStatus): Html {
  const name = statusName(status);
  return state(name, outcomeName(name));
}
