import { ServiceError } from "@vvs/errors";
import type { IdentifierType } from "@vvs/identifiers";
import type { Candidate } from "@vvs/proto/common/v1/common";
import type { Request, Response } from "express";
import { SANDBOX_UEI } from "../api-keys/first-call.ts";
import type { EnvironmentView } from "../http/environments.ts";
import { fieldValues, typedFields } from "../http/form.ts";
import { formIdempotency } from "../http/form-token.ts";
import { type Html, html } from "../http/html.ts";
import type { PageHandlers, Visit } from "../http/session.ts";
import { liveTinMatchHint } from "../page/live-tin-match.ts";
import type { PageContext } from "../page/page-context.ts";
import { asCurl } from "../ui/curl.ts";
import { checksField, choiceGroup, inputField, problemLine } from "../ui/fields.ts";
import { invalid, type Refusal, type RefusalTexts, refusalOf } from "../ui/form-refusal.ts";
import { formTokenField } from "../ui/parts.ts";
import {
  type EchoedVerification,
  emptyVerification,
  identifierLabels,
  type ModeName,
  readVerification,
  type VerificationInput,
  withoutTin,
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
  fields: {
    ...identifierLabels,
    identifiers: "choice of identifiers",
    legal_name: "legal name",
    checks: "choice of checks",
    mode: "mode",
  },
};

export function createRunVerificationHandlers(context: PageContext) {
  const { verification, organization, layout, apiBaseUrl } = context;

  async function sendForm(
    response: Response,
    visit: Visit,
    shown: Partial<Refusal> & { input: EchoedVerification; meant?: MeantVendors },
  ): Promise<void> {
    const { status, notice, input, meant, problems = {} } = shown;
    const { view } = visit;
    const content = html`${meantVendorList(view, meant)}
<form method="post" action="${view.path}/verifications" class="card" data-busy="Asking the providers …">
  ${formTokenField(visit)}
  ${vendorFields(view, input, problems)}
  ${checksField(input.checks, await liveTinMatchHint(context, visit), problems.checks)}
  ${choiceGroup({ type: "radio", name: "mode", legend: "Answer", choices: modes, picked: [input.mode], problem: problems.mode })}
  <p class="hint">${view.environment === "live" ? "This calls real providers. " : ""}It takes up to 25 seconds. If the vendor does not exist yet, it is created.</p>
  <button>Run verification</button>
</form>
${asCurl(apiBaseUrl, "verify", "Verify", { path: "/v1/verify", body: verifyBody(view, input) })}`;
    const parents = [["/verifications", "Verifications"]] as const;
    layout.sendPage(response, { visit, title: "Run a verification", parents, status, notice, content });
  }

  return {
    async ask(_request, response, visit) {
      await sendForm(response, visit, { input: emptyVerification });
    },

    async run(request, response, visit) {
      const typed = verificationInput(request);
      const input = withoutTin(typed);
      const read = readVerification(typed, visit.view.environment);
      if (read.problems) return sendForm(response, visit, { ...invalid(read.problems, refusals), input });
      const { checks, mode, ...vendor } = read.request;
      const target = { case: "vendor" as const, value: vendor };
      try {
        const answer = await visit.forms.once(async () => {
          const idempotency = formIdempotency(visit, "verifications", request);
          const { createdEntities } = await organization.getOrganization({ caller: visit.caller });
          const caller = { ...visit.caller, createdEntities };
          return verification.verify({ caller, target, checks, mode, idempotency }, { timeoutMs: TIMEOUT_MS });
        });
        response.redirect(303, `${visit.view.path}/verifications/${answer.verification!.id}`);
      } catch (error) {
        await sendForm(response, visit, { ...refusalOf(response, error, refusals), meant: meantVendors(error), input });
      }
    },
  } satisfies PageHandlers;
}

/** The existing vendors that the identifiers of a form could mean. */
export type MeantVendors = readonly Pick<Candidate, "id" | "legalName">[] | undefined;

/** Returns the existing vendors that the identifiers could mean, if the verification was refused for that. */
export function meantVendors(error: unknown): MeantVendors {
  if (!(error instanceof ServiceError)) return undefined;
  if (error.code === "entity_exists" && error.entityId) return [{ id: error.entityId, legalName: "" }];
  return error.code === "ambiguous_match" ? error.candidates : undefined;
}

function verificationInput(request: Request): VerificationInput {
  const typed = typedFields(request, ["uei", "cage", "duns", "tin", "legal_name", "mode"]);
  return { ...typed, checks: withTypedTin(fieldValues(request, "checks"), typed.tin) };
}

export const identifierHints: Readonly<Record<IdentifierType, string>> = {
  uei: "12 letters and digits, from SAM.gov.",
  cage: "5 letters and digits.",
  duns: "9 digits.",
  tin: "9 digits, EIN or SSN. It is stored encrypted, and only its last four digits are ever shown. A TIN that you enter is also checked by a TIN match.",
};

const modes: readonly { value: ModeName; label: string; meaning: string }[] = [
  { value: "realtime", label: "Call the providers now", meaning: "" },
  { value: "cached", label: "Use the newest stored answer", meaning: "providers are called only if there is none" },
];

/** The body of the same verification in the API, without the TIN. */
function verifyBody(view: EnvironmentView, input: EchoedVerification): object {
  const { uei, cage, duns, legal_name, checks, mode } = input;
  const typed = Object.fromEntries(Object.entries({ uei, cage, duns }).filter(([, value]) => value !== ""));
  const example = { uei: view.environment === "sandbox" ? SANDBOX_UEI : "ABCDEFGHJK71" };
  const identifiers = Object.keys(typed).length > 0 ? typed : example;
  return { identifiers, ...(legal_name && { legal_name }), checks, mode };
}

/** Renders links to the existing vendors that identifiers could mean. */
export function meantVendorList(view: EnvironmentView, meant: MeantVendors = []): Html | undefined {
  if (meant.length === 0) return undefined;
  return html`<p>These vendors have one or more of the identifiers:</p>
<ul>${meant.map(({ id, legalName }) => html`<li>${legalName} <a href="${view.path}/vendors/${id}"><code>${id}</code></a></li>`)}</ul>`;
}

/** Renders the field of an identifier. */
export function identifierField(name: IdentifierType, value: string, hint?: string, problem?: string): Html {
  return inputField({
    name,
    label: identifierLabels[name],
    // A script ticks the check while a TIN is typed; without it, the check is added when the form arrives.
    attributes: html` maxlength="40" autocomplete="off" autocapitalize="characters" spellcheck="false"${name === "tin" && html` data-ticks="tin_match"`}`,
    value,
    hint,
    problem,
  });
}

function vendorFields(
  view: EnvironmentView,
  input: EchoedVerification,
  problems: NonNullable<Refusal["problems"]>,
): Html {
  const fieldOf = (name: IdentifierType, value: string) =>
    identifierField(name, value, identifierHints[name], problems[name]);
  return html`<fieldset${problems.identifiers && html` aria-describedby="identifiers-problem"`}>
    <legend>Vendor</legend>
    <p class="hint">One identifier is enough.${view.environment === "sandbox" && html` In the sandbox, the UEI <code>${SANDBOX_UEI}</code> passes, and <code>SANDBXFALLB1</code> shows a fallback to another provider.`}</p>
    ${problemLine("identifiers", problems.identifiers)}
    <div class="columns">
    ${fieldOf("uei", input.uei)}
    ${fieldOf("cage", input.cage)}
    ${fieldOf("duns", input.duns)}
    ${fieldOf("tin", "")}
    </div>
    ${inputField({
      name: "legal_name",
      label: "Legal name",
      attributes: html` maxlength="300" autocomplete="off"`,
      value: input.legal_name,
      hint: "A TIN match compares the TIN with this name. Without it, the vendor’s known name is used.",
      problem: problems.legal_name,
    })}
  </fieldset>`;
}
