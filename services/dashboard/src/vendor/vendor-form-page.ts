import type { Monitor } from "@vvs/proto/monitor/v1/monitor";
import type { Refusal } from "../http/form-refusal.ts";
import { type Html, html } from "../http/html.ts";
import type { Visit } from "../http/session.ts";
import { frequencyName } from "../monitors/monitor-form.ts";
import { FAST_CLOCK, frequencyMeanings } from "../monitors/monitor-form-page.ts";
import { outcomeState } from "../ui/checks.ts";
import { asCurl } from "../ui/curl.ts";
import { checksField, inputField, option, selectField, VERBATIM } from "../ui/fields.ts";
import { formTokenField, noticeBox, state } from "../ui/parts.ts";
import { permissionHint } from "../ui/roles.ts";
import {
  identifierHints,
  meantVendors,
  type RunVerificationView,
  TICKS_MATCH,
  TIN_INCLUDES_MATCH,
} from "../verifications/run-verification-page.ts";
import { identifierLabels } from "../verifications/verification-form.ts";
import type { EchoedVendorInput, MissingField } from "./vendor-form.ts";

/** The form that verifies or monitors one vendor. */
export interface VendorFormView extends Partial<Refusal>, Pick<RunVerificationView, "meant"> {
  readonly visit: Visit;
  /** The path of the vendor's page. */
  readonly path: string;
  readonly formToken: string;
  readonly input: EchoedVendorInput;
  /** The fields for what is not known yet. */
  readonly missing: readonly MissingField[];
  /** Where to search for the vendor's identifiers. */
  readonly searchPath: string;
  readonly tinHint: Html | undefined;
  /** The vendor's active monitors; undefined while unavailable. */
  readonly monitors: readonly Monitor[] | undefined;
  readonly entityId: string;
  /** The API as its clients see it. */
  readonly apiBaseUrl: URL;
}

/** Renders the form, with the vendor's active monitors; a hint for those who may not use it. */
export function vendorForm(options: VendorFormView): Html {
  const { visit, path, input, tinHint, problems = {} } = options;
  const { view, may } = visit;
  return html`<section class="card unprinted" aria-labelledby="verify">
<h2 id="verify">Verify or monitor</h2>
${noticeBox(options.notice)}
${meantVendors(options)}
${activeMonitors(options)}
${
  may("verify")
    ? html`<form method="post" action="${path}/verify" data-busy="Asking the providers …">
  ${formTokenField(options.formToken)}
  ${checksField(input.checks, tinHint, problems.checks)}
  ${missingInputs(options)}
  <p class="choices"><button>Verify now</button> <span class="hint">${view.environment === "live" && "Calls real providers. "}Takes up to 25 seconds.</span></p>
  ${may("manage_monitors") && monitorFields(options)}
</form>`
    : permissionHint(view, "verify", "verify and monitor vendors")
}
${curlCommands(options)}
</section>`;
}

function curlCommands({
  entityId,
  apiBaseUrl: baseUrl,
  input: { checks, frequency, webhook_url },
}: VendorFormView): Html {
  const target = { entity_id: entityId, checks };
  const monitor = { ...target, frequency, ...(webhook_url && { webhook_url }) };
  return html`${asCurl(
    { path: "/v1/verify", body: { ...target, mode: "realtime" } },
    { baseUrl, operation: "verify", id: "verify-curl", label: "Verify" },
  )}
${asCurl({ path: "/v1/monitors", body: monitor }, { baseUrl, operation: "createMonitor", id: "monitor-curl", label: "Monitor" })}`;
}

function activeMonitors({ visit: { view }, monitors }: VendorFormView): Html | undefined {
  if (!monitors)
    return html`<p class="notice warning">Monitors are temporarily unavailable on this page. They keep running. Try again in a moment.</p>`;
  if (monitors.length === 0) return undefined;
  return html`<ul class="plain monitored">${monitors.map(
    (each) =>
      html`<li>${each.lastRun ? outcomeState(each.lastRun.outcome) : state("pending", "first run")} Monitored ${frequencyName(each.frequency)}: <a href="${view.path}/monitors/${each.id}"><code>${each.id}</code></a></li>`,
  )}</ul>`;
}

function missingInputs({ missing, input, searchPath, problems = {} }: VendorFormView): Html | undefined {
  if (missing.length === 0) return undefined;
  const value = { ...input, tin: "" };
  const needsRegistration = missing.includes("uei");
  return html`<fieldset>
    <legend>Not known yet</legend>
    ${needsRegistration && html`<p class="hint">SAM.gov can’t be asked by name or address: it needs the vendor’s UEI or CAGE code. <a href="${searchPath}">Search the registry for this vendor</a>, ask the vendor, or enter it here.</p>`}
    <div class="columns">
    ${missing.map((name) =>
      name === "legal_name"
        ? inputField({
            name,
            label: "Legal name",
            attributes: html` maxlength="300" autocomplete="off"`,
            value: value.legal_name,
            hint: "As the IRS knows it. A TIN match compares the TIN with this name.",
            problem: problems.legal_name,
          })
        : inputField({
            name,
            label: identifierLabels[name],
            attributes: html` maxlength="40" autocomplete="off" autocapitalize="characters" spellcheck="false"${name === "tin" && TICKS_MATCH}`,
            value: value[name],
            hint: `${identifierHints[name]}.${name === "tin" ? ` Only needed for a TIN match. ${TIN_INCLUDES_MATCH}` : ""}`,
            problem: problems[name],
          }),
    )}
    </div>
  </fieldset>`;
}

function monitorFields({ visit: { view }, path, input, monitors, problems = {} }: VendorFormView): Html {
  const fields = html`<p class="hint">A monitor makes the chosen checks again and again, beginning now, and reports what changes.${view.environment === "sandbox" && ` ${FAST_CLOCK}`}</p>
  <div class="columns">
  ${selectField({
    name: "frequency",
    label: "How often",
    options: Object.entries(frequencyMeanings).map(([value, meaning]) => option(value, input.frequency, meaning)),
    problem: problems.frequency,
  })}
  ${inputField({
    name: "webhook_url",
    label: "Webhook URL",
    attributes: html` class="wide" type="url" maxlength="2048"${VERBATIM} placeholder="https://…"`,
    value: input.webhook_url,
    hint: html`Optional. Changes are sent there, signed with your <a href="${view.path}/webhooks">webhook secret</a>. Without it they appear only here and in the API.`,
    problem: problems.webhook_url,
  })}
  </div>
  <button class="quiet" formaction="${path}/monitor">Monitor</button>`;
  const isOpen = monitors?.length === 0 || problems.frequency || problems.webhook_url;
  return html`<details${isOpen && html` open`}><summary>${monitors && monitors.length > 0 ? "Add another monitor" : "Monitor this vendor"}</summary>
  ${fields}
</details>`;
}
