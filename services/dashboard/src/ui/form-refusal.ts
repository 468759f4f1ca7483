import { catalogue, ServiceError } from "@vvs/errors";
import type { Response } from "express";
import { FormUsedError } from "../http/form-token.ts";
import { messageText } from "../http/problem.ts";
import { refusalNotice } from "../http/refusal.ts";
import type { Notice } from "./parts.ts";
import { problemNotice } from "./parts.ts";

/** How to answer a form that was refused: with the form again, and with what is said about it. */
export interface Refusal {
  readonly status: number;
  readonly notice?: Notice;
  /** The problems of fields, by the names of the fields. */
  readonly problems?: Readonly<Partial<Record<string, string>>>;
}

/** What is said when a form is refused. */
export interface RefusalTexts {
  /** If the form was already sent. */
  readonly sentBefore?: string;
  /** If a service is unavailable; without this text, that is an error page. */
  readonly unavailable?: string;
  /** If fields have problems, above the form. */
  readonly invalid?: string;
  /** The names of the form's fields in sentences. */
  readonly fields: Readonly<Record<string, string>>;
}

/**
 * Returns the refusal for an error that the user can correct or should know; sets Retry-After where there were too many
 * attempts. Errors that say that something does not exist or went wrong are thrown as they are.
 */
export function refusalOf(response: Response, error: unknown, texts: RefusalTexts): Refusal {
  if (error instanceof FormUsedError && texts.sentBefore) {
    return { status: 409, notice: problemNotice(texts.sentBefore) };
  }
  if (!(error instanceof ServiceError)) throw error;
  const { code, message } = error;
  const problems = code === "invalid_request" ? problemsOf(error, texts.fields) : {};
  if (Object.keys(problems).length > 0) return invalid(problems, texts);
  if (code === "service_unavailable" && texts.unavailable) {
    return { status: 503, notice: problemNotice(texts.unavailable) };
  }
  const { http: status } = catalogue[code];
  if (status === 404 || status >= 500) throw error;
  const notice = code === "rate_limited" ? refusalNotice(response, error) : problemNotice(messageText(message));
  return { status, notice };
}

/** Returns the refusal of a form whose fields have problems. */
export function invalid(problems: NonNullable<Refusal["problems"]>, { invalid: text }: RefusalTexts): Refusal {
  return { status: 400, problems, notice: text === undefined ? undefined : problemNotice(text) };
}

/** Returns a service's error details by form field: identifiers.uei belongs to the field uei, checks[1] to checks. */
function problemsOf({ details }: ServiceError, fields: RefusalTexts["fields"]): Record<string, string> {
  const known = details.flatMap(({ path, message }) => {
    const [name = ""] = path
      .replace(/\[\d+\]$/, "")
      .split(".")
      .slice(-1);
    return Object.hasOwn(fields, name) ? [[name, `The ${fields[name]} ${message}.`]] : [];
  });
  return Object.fromEntries(known);
}
