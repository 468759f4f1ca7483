import { catalogue, ServiceError } from "@vvs/errors";
import { withWait } from "./refusal.ts";

/** Problems with a request that the dashboard describes itself. */
const problems = {
  malformed: {
    status: 400,
    title: "The request could not be read",
    text: "Nothing was changed. Go back, reload the page and try again.",
  },
  foreign_form: {
    status: 403,
    title: "This form did not come from the dashboard",
    text: "Another site sent this form, or your browser does not say where its forms come from. Nothing was changed. Open the dashboard and send the form from there.",
  },
  outdated_form: {
    status: 403,
    title: "This page is out of date",
    text: "Nothing was changed. Somebody else may have signed in with this browser since the page was opened. Open the page again and send the form from there.",
  },
  not_permitted: {
    status: 403,
    title: "Your role does not allow this",
    text: "Nothing was changed. Ask an owner of your organization to do this for you or to change your role.",
  },
  page_not_found: { status: 404, title: "Page not found", text: "Check the address, or go to the dashboard." },
  too_large: {
    status: 413,
    title: "The form is too large",
    text: "A form can hold up to 16 kB. Nothing was changed. Go back, shorten your input and try again.",
  },
  receipt_too_long: {
    status: 413,
    title: "The receipt is too long for this page",
    text: "It was not checked. This page takes up to 100 kB. Check the receipt with the command line: vendor-verification receipt check.",
  },
  unsupported_body: {
    status: 415,
    title: "The request could not be read",
    text: "The dashboard accepts only its own forms. Nothing was changed. Reload the page and try again.",
  },
  internal_error: {
    status: 500,
    title: "Something went wrong on our side",
    text: "Try again in a moment. If it happens again, contact support.",
  },
  service_unavailable: {
    status: 503,
    title: "The dashboard is temporarily unavailable",
    text: "The problem is on our side, and usually lasts less than a minute. API calls and webhooks do not depend on the dashboard. Try again in a moment.",
  },
} as const;

/** Thrown to answer a request with a page about one of the problems above. */
export class ProblemError extends Error {
  readonly problem: keyof typeof problems;

  constructor(problem: ProblemError["problem"]) {
    super(problems[problem].title);
    this.problem = problem;
  }
}

/** The content of an error page. */
export interface Problem {
  readonly status: number;
  readonly title: string;
  readonly text: string;
  /** Seconds after which to try again. */
  readonly retryAfterSeconds?: number | undefined;
  /** Whether something with an id was asked for that is not there. */
  readonly isMissing?: boolean;
}

/** Returns the content of the error page for any error. The texts of internal errors are withheld. */
export function problemOf(error: unknown): Problem {
  if (error instanceof ProblemError) return problems[error.problem];
  const status = parserStatus(error);
  if (status !== undefined) return status === 413 ? problems.too_large : problems.malformed;
  const refusal = ServiceError.from(error);
  if (refusal.code === "internal_error") return problems.internal_error;
  if (refusal.code === "service_unavailable") {
    return { ...problems.service_unavailable, retryAfterSeconds: refusal.retryAfterSeconds ?? 1 };
  }
  const { code, retryAfterSeconds } = refusal;
  const message = messageText(refusal.message);
  const { http } = catalogue[code];
  if (http === 404) return { status: http, title: "Not found", text: message, isMissing: true };
  const text = code === "rate_limited" ? withWait(message, retryAfterSeconds) : message;
  return { status: http, title: "Your request was refused", text, retryAfterSeconds };
}

/** Returns the HTTP status that express or its body parser gave to a request that it could not read. */
function parserStatus(error: unknown): number | undefined {
  const status = (error as { status?: unknown } | undefined)?.status;
  return typeof status === "number" && status >= 400 && status < 500 ? status : undefined;
}

/** Returns a message of the API in the words of the dashboard, where people read "vendor". */
export function messageText(message: string): string {
  return message
    .replace(/\b([Aa])n entity\b/g, "$1 vendor")
    .replace(/\bentity\b/g, "vendor")
    .replace(/\bentities\b/g, "vendors");
}
