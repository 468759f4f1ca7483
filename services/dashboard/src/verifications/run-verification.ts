import { ServiceError } from "@vvs/errors";
import type { Candidate } from "@vvs/proto/common/v1/common";
import type { Request, Response } from "express";
import { field, fieldValues } from "../http/form.ts";
import { FormUsedError, formIdempotency } from "../http/form-token.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import type { Notice } from "../ui/parts.ts";
import { runVerificationPage } from "./run-verification-page.ts";
import {
  type EchoedVerification,
  echoOf,
  emptyVerification,
  identifierLabels,
  readVerification,
  type TypedVerification,
  type VerificationField,
  type VerificationProblems,
} from "./verification-form.ts";

/** Why no verification was run; shown with the form. */
interface Refusal {
  readonly status: number;
  readonly notice?: Notice;
  readonly problems?: VerificationProblems;
  /** The existing entity that has one of the identifiers. */
  readonly entityId?: string;
  readonly candidates?: readonly Candidate[];
}

/** Less than the 25 s that the page promises, which include this service's own work. */
const TIMEOUT_MS = 24_500;

export function createRunVerificationHandlers({ verification, layout, formTokens }: PageContext) {
  function sendForm(
    request: Request,
    response: Response,
    visit: Visit,
    shown: Partial<Refusal> & { input: EchoedVerification },
  ): void {
    const formToken = formTokens.issue(request, response);
    const content = runVerificationPage({ ...shown, view: visit.view, formToken });
    const { status } = shown;
    layout.sendPage(response, { visit, section: "verifications", title: "Run a verification", status, content });
  }

  return {
    async ask(request, response, visit) {
      sendForm(request, response, visit, { input: emptyVerification });
    },

    async run(request, response, visit) {
      const typed = typedIn(request);
      const input = echoOf(typed);
      const read = readVerification(typed);
      if ("problems" in read) {
        return sendForm(request, response, visit, { status: 400, input, problems: read.problems });
      }
      const { identifiers, legalName, checks, mode } = read.wanted;
      const wanted = {
        caller: visit.caller,
        target: { case: "vendor" as const, value: { identifiers, legalName } },
        checks: [...checks],
        mode,
      };
      try {
        const answer = await formTokens.once(request, response, (submission) => {
          const idempotency = formIdempotency(visit, "verifications", submission);
          return verification.verify({ ...wanted, idempotency }, { timeoutMs: TIMEOUT_MS });
        });
        response.redirect(303, `${visit.view.path}/verifications/${answer.verification!.id}`);
      } catch (error) {
        sendForm(request, response, visit, { ...refusalOf(error), input });
      }
    },
  } satisfies PageHandlers;
}

function typedIn(request: Request): TypedVerification {
  return {
    uei: field(request, "uei"),
    cage: field(request, "cage"),
    duns: field(request, "duns"),
    tin: field(request, "tin"),
    legal_name: field(request, "legal_name"),
    checks: fieldValues(request, "checks"),
    mode: field(request, "mode"),
  };
}

const SENT_BEFORE =
  "This form was already sent, so no new verification was run. Find the first one in the list of verifications.";
const UNAVAILABLE =
  "The verification may not have finished, because a service is temporarily unavailable. Check the list of verifications before you run it again.";

/** Returns a refusal that the user can correct or should know. Other errors are thrown as they are. */
function refusalOf(error: unknown): Refusal {
  if (error instanceof FormUsedError) return { status: 409, notice: { kind: "problem", text: SENT_BEFORE } };
  if (!(error instanceof ServiceError)) throw error;
  const notice: Notice = { kind: "problem", text: error.message };
  switch (error.code) {
    case "service_unavailable":
      return { status: 503, notice: { kind: "problem", text: UNAVAILABLE } };
    case "entity_exists":
      return { status: 409, notice, entityId: error.entityId };
    case "ambiguous_match":
      return { status: 409, notice, candidates: error.candidates };
    case "limit_exceeded":
    case "forbidden":
      return { status: 403, notice };
    case "invalid_request": {
      const problems = problemsOf(error);
      return { status: 400, problems, ...(Object.keys(problems).length === 0 && { notice }) };
    }
    default:
      throw error;
  }
}

const labels: Readonly<Record<VerificationField, string>> = {
  ...identifierLabels,
  identifiers: "choice of identifiers",
  legal_name: "legal name",
  checks: "choice of checks",
  mode: "mode",
};

/** Returns a service's error details by form field: identifiers.uei belongs to the UEI, checks[1] to the checks. */
function problemsOf({ details }: ServiceError): VerificationProblems {
  const known = details.flatMap(({ path, message }) => {
    const name = path
      .replace(/\[\d+\]$/, "")
      .split(".")
      .at(-1)!;
    return Object.hasOwn(labels, name) ? [[name, `The ${labels[name as VerificationField]} ${message}.`]] : [];
  });
  return Object.fromEntries(known);
}
