import { ServiceError } from "@vvs/errors";
import type { Request, Response } from "express";
import { field, fieldValues } from "../http/form.ts";
import { invalid, type RefusalTexts, refusalOf } from "../http/form-refusal.ts";
import { formIdempotency } from "../http/form-token.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import { liveTinMatchHint } from "../organization/live-tin-match.ts";
import type { PageContext } from "../page-context.ts";
import { type RunVerificationView, runVerificationPage } from "./run-verification-page.ts";
import {
  echoOf,
  emptyVerification,
  identifierLabels,
  readVerification,
  type VerificationInput,
  withTypedTin,
} from "./verification-form.ts";

/** Timeout of a verification: less than the 25 s that pages promise, which include this service's own work. */
export const TIMEOUT_MS = 24_500;

const refusals: RefusalTexts = {
  sentBefore:
    "This form was already sent, so no new verification was run. Find the first one in the list of verifications.",
  unavailable:
    "The verification may not have finished, because a service is temporarily unavailable. Check the list of verifications before you run it again.",
  invalid: "No verification was run. Correct the marked fields and try again. If you entered a TIN, enter it again.",
  codes: ["entity_exists", "ambiguous_match", "limit_exceeded", "forbidden"],
  fields: {
    ...identifierLabels,
    identifiers: "choice of identifiers",
    legal_name: "legal name",
    checks: "choice of checks",
    mode: "mode",
  },
};

export function createRunVerificationHandlers(context: PageContext) {
  const { verification, organization, layout, formTokens, apiBaseUrl } = context;

  async function sendForm(
    request: Request,
    response: Response,
    visit: Visit,
    shown: Omit<RunVerificationView, "visit" | "formToken" | "tinHint" | "apiBaseUrl">,
  ): Promise<void> {
    const tinHint = await liveTinMatchHint(context, visit);
    const formToken = formTokens.issue(request, response);
    const content = runVerificationPage({ ...shown, visit, tinHint, formToken, apiBaseUrl });
    const { status } = shown;
    layout.sendPage(response, { visit, section: "verifications", title: "Run a verification", status, content });
  }

  return {
    async ask(request, response, visit) {
      await sendForm(request, response, visit, { input: emptyVerification });
    },

    async run(request, response, visit) {
      const typed = verificationInput(request);
      const input = echoOf(typed);
      const read = readVerification(typed, visit.view.environment);
      if (read.problems) return sendForm(request, response, visit, { ...invalid(read.problems, refusals), input });
      const { checks, mode, ...vendor } = read.request;
      const target = { case: "vendor" as const, value: vendor };
      try {
        const answer = await formTokens.once(request, response, async (submission) => {
          const idempotency = formIdempotency(visit, "verifications", submission);
          const { createdEntities } = await organization.getOrganization({ caller: visit.caller });
          const caller = { ...visit.caller, createdEntities };
          return verification.verify({ caller, target, checks, mode, idempotency }, { timeoutMs: TIMEOUT_MS });
        });
        response.redirect(303, `${visit.view.path}/verifications/${answer.verification!.id}`);
      } catch (error) {
        await sendForm(request, response, visit, { ...refusalOf(error, refusals), meant: meantVendors(error), input });
      }
    },
  } satisfies PageHandlers;
}

/** Returns the existing vendors that the identifiers could mean, if the verification was refused for that. */
export function meantVendors(error: unknown): RunVerificationView["meant"] {
  if (!(error instanceof ServiceError)) return undefined;
  if (error.code === "entity_exists" && error.entityId) return [{ id: error.entityId, legalName: "" }];
  return error.code === "ambiguous_match" ? error.candidates : undefined;
}

function verificationInput(request: Request): VerificationInput {
  return {
    uei: field(request, "uei"),
    cage: field(request, "cage"),
    duns: field(request, "duns"),
    tin: field(request, "tin"),
    legal_name: field(request, "legal_name"),
    checks: withTypedTin(fieldValues(request, "checks"), field(request, "tin")),
    mode: field(request, "mode"),
  };
}
