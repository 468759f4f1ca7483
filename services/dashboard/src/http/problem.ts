import { catalogue, ServiceError } from "@vvs/errors";

/** What can be wrong with a request before any service sees it. */
const problems = {
  malformed: { status: 400, title: "This request can’t be understood", text: "Go back and try again." },
  foreign_form: {
    status: 403,
    title: "This form did not come from the dashboard",
    text: "Another site sent it, or a browser that does not say where its forms come from. Nothing was changed. Open the dashboard and send the form from there.",
  },
  not_permitted: {
    status: 403,
    title: "Your role does not allow this",
    text: "Nothing was changed. An owner of your organization can do it, or give you another role.",
  },
  no_page: { status: 404, title: "There is no such page", text: "Check the address, or start from the home page." },
  too_large: { status: 413, title: "That is too much", text: "The form is larger than 16 kB. Nothing was changed." },
  no_form: { status: 415, title: "This is no form", text: "The dashboard takes its own forms alone." },
} as const;

type ProblemName = keyof typeof problems;

/** A request that ends in a page that says what is wrong. */
export class ProblemError extends Error {
  readonly problem: ProblemName;

  constructor(problem: ProblemName) {
    super(problems[problem].title);
    this.problem = problem;
  }
}

/** A page's worth of what went wrong, for people. */
export interface Problem {
  readonly status: number;
  readonly title: string;
  readonly text: string;
  /** When it is worth trying again. */
  readonly retryAfterSeconds?: number;
}

/** Total: what any error looks like to people. What is not meant for them is withheld. */
export function problemOf(error: unknown): Problem {
  if (error instanceof ProblemError) return problems[error.problem];
  const status = parserStatus(error);
  if (status !== undefined) return status === 413 ? problems.too_large : problems.malformed;
  const refusal = ServiceError.from(error);
  if (refusal.code === "internal_error") {
    return { status: 500, title: "Something went wrong on our side", text: "Try again in a moment." };
  }
  if (refusal.code === "service_unavailable") {
    return {
      status: 503,
      title: "The dashboard can’t reach its data",
      text: "This is on our side, and usually over within a minute. API calls and webhooks are not affected by the dashboard. Try again in a moment.",
      retryAfterSeconds: refusal.retryAfterSeconds ?? 1,
    };
  }
  return { status: catalogue[refusal.code].http, title: "This was not done", text: refusal.message };
}

/** The status that express and its body parser give a request they could not read. */
function parserStatus(error: unknown): number | undefined {
  const status = (error as { status?: unknown } | undefined)?.status;
  return typeof status === "number" && status >= 400 && status < 500 ? status : undefined;
}
