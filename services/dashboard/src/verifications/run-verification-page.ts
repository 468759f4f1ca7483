import { checkDefinitions, checkNames } from "@vvs/checks";
import type { IdentifierType } from "@vvs/identifiers";
import type { Candidate } from "@vvs/proto/common/v1/common";
import { type Html, html } from "../http/html.ts";
import type { EnvironmentView } from "../ui/environments.ts";
import { formTokenField, type Notice, noticeBox } from "../ui/parts.ts";
import {
  type EchoedVerification,
  identifierLabels,
  type ModeName,
  modes,
  type VerificationProblems,
} from "./verification-form.ts";

export interface RunVerificationView {
  readonly view: EnvironmentView;
  readonly formToken: string;
  readonly input: EchoedVerification;
  readonly notice?: Notice;
  readonly problems?: VerificationProblems;
  /** The existing entity that has one of the identifiers. */
  readonly entityId?: string;
  /** The entities that the identifiers could mean. */
  readonly candidates?: readonly Candidate[];
}

const TRY_AGAIN =
  "No verification was run. Correct the marked fields and try again. If you entered a TIN, enter it again.";

const identifierHints: Readonly<Record<IdentifierType, string>> = {
  uei: "12 letters and digits, from SAM.gov",
  cage: "5 letters and digits",
  duns: "9 digits",
  tin: "9 digits, EIN or SSN. It is stored encrypted, and only its last four digits are ever shown",
};

const modeMeanings: Readonly<Record<ModeName, string>> = {
  realtime: "call the providers now",
  cached: "use the newest stored answer, and call providers only if there is none",
};

export function runVerificationPage(options: RunVerificationView): Html {
  const { view, problems = {} } = options;
  const refused: Notice | undefined =
    Object.keys(problems).length > 0 ? { kind: "problem", text: TRY_AGAIN } : undefined;
  return html`<p class="path"><a href="${view.path}/verifications">Verifications</a></p>
<h1>Run a verification</h1>
${noticeBox(options.notice ?? refused)}
${whomItMeans(options)}
<form method="post" action="${view.path}/verifications" class="card">
  ${formTokenField(options.formToken)}
  ${vendorFields(options)}
  ${checkFields(options)}
  ${modeFields(options)}
  <p class="hint">${view.environment === "live" ? "This calls real providers. " : ""}It takes up to 25 seconds. If the vendor does not exist yet, it is created.</p>
  <button>Run verification</button>
</form>`;
}

function whomItMeans({ view, entityId, candidates = [] }: RunVerificationView): Html | undefined {
  const meant = entityId ? [{ id: entityId, legalName: "" }] : candidates;
  if (meant.length === 0) return undefined;
  return html`<p>These vendors have one or more of the identifiers:</p>
<ul>${meant.map(({ id, legalName }) => html`<li>${legalName} <a href="${view.path}/verifications?entity_id=${id}"><code>${id}</code></a></li>`)}</ul>`;
}

function vendorFields({ view, input, problems = {} }: RunVerificationView): Html {
  return html`<fieldset${problems.identifiers && html` aria-describedby="identifiers-problem"`}>
    <legend>Vendor</legend>
    <p class="hint">One identifier is enough.${view.environment === "sandbox" && html` In the sandbox, the UEI <code>SANDBXACTVE1</code> passes, and <code>SANDBXFALLB1</code> shows a fallback to another provider.`}</p>
    ${problems.identifiers && html`<p class="field-problem" id="identifiers-problem">${problems.identifiers}</p>`}
    <div class="columns">
    ${textField({ name: "uei", value: input.uei, problem: problems.uei })}
    ${textField({ name: "cage", value: input.cage, problem: problems.cage })}
    ${textField({ name: "duns", value: input.duns, problem: problems.duns })}
    ${textField({ name: "tin", value: "", problem: problems.tin })}
    </div>
    <div class="field">
    <label for="legal_name">Legal name</label>
    <input id="legal_name" name="legal_name" maxlength="300" autocomplete="off" value="${input.legal_name}"${described("legal_name", problems.legal_name)}>
    <p class="hint" id="legal_name-hint"><code>tin_match</code> compares the TIN with this name. Without it, the vendor’s known name is used.</p>
    ${problems.legal_name && html`<p class="field-problem" id="legal_name-problem">${problems.legal_name}</p>`}
    </div>
  </fieldset>`;
}

function textField({ name, value, problem }: { name: IdentifierType; value: string; problem?: string }): Html {
  return html`<div class="field">
    <label for="${name}">${identifierLabels[name]}</label>
    <input id="${name}" name="${name}" maxlength="40" autocomplete="off" autocapitalize="characters" spellcheck="false" value="${value}"${described(name, problem)}>
    <p class="hint" id="${name}-hint">${identifierHints[name]}</p>
    ${problem && html`<p class="field-problem" id="${name}-problem">${problem}</p>`}
    </div>`;
}

function described(name: string, problem: string | undefined): Html {
  return html` aria-describedby="${name}-hint${problem && ` ${name}-problem`}"${problem && html` aria-invalid="true"`}`;
}

function checkFields({ input, problems = {} }: RunVerificationView): Html {
  return html`<fieldset${problems.checks && html` aria-describedby="checks-problem"`}>
    <legend>Checks</legend>
    ${checkNames.map((name) => choice({ type: "checkbox", name: "checks", value: name, hint: checkDefinitions[name].question, isPicked: input.checks.includes(name) }))}
    ${problems.checks && html`<p class="field-problem" id="checks-problem">${problems.checks}</p>`}
  </fieldset>`;
}

function modeFields({ input, problems = {} }: RunVerificationView): Html {
  return html`<fieldset${problems.mode && html` aria-describedby="mode-problem"`}>
    <legend>Mode</legend>
    ${(Object.keys(modes) as ModeName[]).map((name) => choice({ type: "radio", name: "mode", value: name, hint: modeMeanings[name], isPicked: input.mode === name }))}
    ${problems.mode && html`<p class="field-problem" id="mode-problem">${problems.mode}</p>`}
  </fieldset>`;
}

function choice(options: { type: string; name: string; value: string; hint: string; isPicked: boolean }): Html {
  const { type, name, value, hint, isPicked } = options;
  return html`<label class="check"><input type="${type}" name="${name}" value="${value}"${isPicked && html` checked`}> <span><code>${value}</code> <span class="hint">${hint}</span></span></label>`;
}
