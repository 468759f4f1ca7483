import { type Check, checkNames, toCheckType } from "@vvs/checks";
import type { IdentifierType } from "@vvs/identifiers";
import { isPlaceholderName } from "@vvs/identifiers/placeholder-name";
import type { CheckType } from "@vvs/proto/common/v1/common";
import type { Entity } from "@vvs/proto/entity/v1/entity";
import type { Monitor } from "@vvs/proto/monitor/v1/monitor";
import type { Environment } from "@vvs/tenant";
import { type Html, html } from "../http/html.ts";
import { permissionHint } from "../http/roles.ts";
import type { Visit } from "../http/session.ts";
import { FAST_CLOCK, frequencyName, scheduleFields } from "../monitors/monitor-form.ts";
import { asCurl } from "../ui/curl.ts";
import { checksField, inputField } from "../ui/fields.ts";
import type { Refusal } from "../ui/form-refusal.ts";
import { formTokenField, noticeBox, outcomeState, section, state } from "../ui/parts.ts";
import {
  identifierField,
  identifierHints,
  type MeantVendors,
  meantVendorList,
} from "../verifications/run-verification.ts";
import { readTypedVendor } from "../verifications/verification-form.ts";
import type { MadeCheck } from "./made-checks.ts";

/** What checks need of a vendor, as far as it is known; "" where it is not. The TIN is masked. */
interface KnownInputs {
  readonly uei: string;
  readonly cage: string;
  readonly tin: string;
  readonly legalName: string;
}

/** The fields for details that checks need and that are not known yet. */
type MissingField = "uei" | "cage" | "tin" | "legal_name";

/** The input of the form that verifies or monitors one vendor. */
export interface VendorInput extends Readonly<Record<MissingField, string>> {
  readonly checks: readonly string[];
  readonly frequency: string;
  readonly webhook_url: string;
}

/** The part of the input that may be shown again: never the TIN. */
export type EchoedVendorInput = Omit<VendorInput, "tin">;

/** What to verify, and what the form added to what is known of the vendor. */
export interface VendorRequest {
  readonly checks: CheckType[];
  readonly identifiers: { readonly [T in IdentifierType]?: string };
  readonly legalName: string;
}

/** Returns what is known of a vendor for its checks. */
export function knownInputs({ identifiers, legalName }: Pick<Entity, "identifiers" | "legalName">): KnownInputs {
  const { uei = "", cage = "", tin = "" } = identifiers;
  return { uei, cage, tin, legalName: isPlaceholderName(legalName) ? "" : legalName };
}

/** Returns the fields for what is not known of a vendor and some check needs. A UEI or a CAGE code is enough. */
export function missingFields({ uei, cage, tin, legalName }: KnownInputs): MissingField[] {
  const isRegistrationKnown = uei !== "" || cage !== "";
  return [
    ...(isRegistrationKnown ? [] : (["uei", "cage"] as const)),
    ...(tin === "" ? (["tin"] as const) : []),
    ...(legalName === "" ? (["legal_name"] as const) : []),
  ];
}

/** Returns the checks to choose at first: those made before, or else all for which everything is known. */
export function suggestedChecks(
  known: KnownInputs,
  made: readonly Pick<MadeCheck, "check" | "newest">[],
  mayMatchTins: boolean,
): Check[] {
  const before = made.filter(({ newest }) => newest).map(({ check }) => check);
  if (before.length > 0) return before;
  const possible: Readonly<Record<Check, boolean>> = {
    sam_registration: known.uei !== "" || known.cage !== "",
    tin_match: known.tin !== "" && known.legalName !== "" && mayMatchTins,
  };
  const asked = checkNames.filter((check) => possible[check]);
  return asked.length > 0 ? asked : ["sam_registration"];
}

/** Checks the input by the rules of the API, and that each chosen check has what it needs. No problem repeats a value. */
export function readVendorForm(
  typed: Pick<VendorInput, MissingField | "checks">,
  known: KnownInputs,
  environment: Environment,
): { request: VendorRequest; problems?: undefined } | { problems: { [F in MissingField | "checks"]?: string } } {
  const { identifiers, legalName, checks, problems } = readTypedVendor(typed, environment);
  const lacks = (value: string, field: MissingField, problem: string) => {
    if (value === "") problems[field] ??= problem;
  };
  if (checks.includes("sam_registration")) {
    const uei = known.uei || known.cage || identifiers.uei || identifiers.cage || "";
    lacks(uei, "uei", "SAM.gov is asked by UEI or CAGE code. Enter one of them, or do not choose this check.");
  }
  if (checks.includes("tin_match")) {
    const tin = known.tin || identifiers.tin || "";
    lacks(tin, "tin", "A TIN match needs the TIN. Enter it, or do not choose this check.");
    lacks(known.legalName || legalName, "legal_name", "A TIN match needs the legal name. Enter it.");
  }
  if (Object.keys(problems).length > 0) return { problems };
  return { request: { checks: checks.map(toCheckType), identifiers, legalName } };
}

/** The form that verifies or monitors one vendor. */
export interface VendorFormView extends Partial<Refusal> {
  readonly meant?: MeantVendors;
  readonly visit: Visit;
  /** The path of the vendor's page. */
  readonly path: string;
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
  return section("verify", "Verify or monitor", "card unprinted")`${noticeBox(options.notice)}
${meantVendorList(view, options.meant)}
${activeMonitors(options)}
${
  may("verify")
    ? html`<form method="post" action="${path}/verify" data-busy="Asking the providers …">
  ${formTokenField(visit)}
  ${checksField(input.checks, tinHint, problems.checks)}
  ${missingInputs(options)}
  <p class="choices"><button>Verify now</button> <span class="hint">${view.environment === "live" && "Calls real providers. "}Takes up to 25 seconds.</span></p>
  ${may("manage_monitors") && monitorFields(options)}
</form>`
    : permissionHint(view, "verify", "verify and monitor vendors")
}
${curlCommands(options)}`;
}

function curlCommands({
  entityId,
  apiBaseUrl: baseUrl,
  input: { checks, frequency, webhook_url },
}: VendorFormView): Html {
  const target = { entity_id: entityId, checks };
  const monitor = { ...target, frequency, ...(webhook_url && { webhook_url }) };
  return html`${asCurl(baseUrl, "verify", "Verify", { path: "/v1/verify", body: { ...target, mode: "realtime" } })}
${asCurl(baseUrl, "createMonitor", "Monitor", { path: "/v1/monitors", body: monitor })}`;
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
        : identifierField(name, value[name], identifierHints[name], problems[name]),
    )}
    </div>
  </fieldset>`;
}

function monitorFields({ visit: { view }, path, input, monitors, problems = {} }: VendorFormView): Html {
  const fields = html`<p class="hint">A monitor repeats the chosen checks, starting now, and reports changes.${view.environment === "sandbox" && ` ${FAST_CLOCK}`}</p>
  <div class="columns">
  ${scheduleFields(view, input, problems)}
  </div>
  <button class="quiet" formaction="${path}/monitor">Monitor</button>`;
  const isOpen = monitors?.length === 0 || problems.frequency || problems.webhook_url;
  return html`<details${isOpen && html` open`}><summary>${monitors && monitors.length > 0 ? "Add another monitor" : "Monitor this vendor"}</summary>
  ${fields}
</details>`;
}
