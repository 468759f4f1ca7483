import { catalogue } from "@vvs/errors";
import { containsTin } from "@vvs/identifiers";
import { isId } from "@vvs/ids";
import { type ListFilter, readFilter } from "../http/filter.ts";
import { timeField } from "../webhooks/delivery-filter.ts";

/** Kinds of outcomes to choose from, with their names. */
export const outcomeKinds = {
  "2xx": "2xx: success",
  "4xx": "4xx: refused",
  "5xx": "5xx: failed on our side",
  no_answer: "no answer: the client hung up",
};

/** Without a valid key or a known route a request belongs to no organization, so no log has it. */
const NEVER_LOGGED = ["unauthorized", "not_found", "method_not_allowed"];

/** The error codes to choose from, with their HTTP statuses. */
export const errorCodes = Object.entries(catalogue).flatMap(([code, { http }]) =>
  NEVER_LOGGED.includes(code) ? [] : [{ code, http }],
);

const outcomes = new Set([...Object.keys(outcomeKinds), ...errorCodes.map(({ code }) => code)]);

const fields = {
  outcome: { accepts: (text: string) => outcomes.has(text), problem: "Choose one of the listed outcomes." },
  key: { accepts: (text: string) => isId("key", text), problem: "Choose one of the listed API keys." },
  operation: {
    accepts: (text: string) => /^[A-Z]{3,7} \/v1\/[\w/:]{1,100}$/.test(text),
    problem: "Choose one of the listed methods and routes.",
  },
  request_id: {
    accepts: (text: string) => /^[\x20-\x7e]{1,128}$/.test(text) && !containsTin(text),
    problem: "Enter the whole request ID, as in the X-Request-Id header of the answer.",
  },
  from: timeField,
  to: timeField,
};

export type RequestFilter = ListFilter<keyof typeof fields>;

export const readRequestFilter = (query: Readonly<Record<string, unknown>>): RequestFilter => readFilter(query, fields);

/** Returns the method and route of the filter's text; undefined if it does not filter. */
export function operationOf(text: string): { method: string; route: string } | undefined {
  const [method, route] = text.split(" ");
  return method && route ? { method, route } : undefined;
}
