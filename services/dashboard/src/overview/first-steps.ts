import { scopes } from "@vvs/api-keys";
import { type Html, html } from "../http/html.ts";
import type { Visit } from "../http/session.ts";
import type { EnvironmentView } from "../ui/environments.ts";
import { copyable, state } from "../ui/parts.ts";
import type { Permission } from "../ui/roles.ts";
import { firstCall, SANDBOX_UEI } from "./first-call.ts";

/** A sandbox vendor that changes at every run of a monitor. */
const CHANGING_UEI = "SANDBXCHNGE1";

/** Which first steps an organization has taken; undefined while that is unknown. */
export interface CompletedSteps {
  readonly keys: boolean | undefined;
  readonly verifications: boolean | undefined;
  /** Whether there is an active monitor. */
  readonly monitors: boolean | undefined;
  /** Whether a webhook endpoint has received anything yet. */
  readonly deliveries: boolean | undefined;
}

const needed: readonly Permission[] = ["manage_keys", "verify", "manage_monitors", "manage_webhooks"];

/**
 * Renders the three first steps; nothing once all are taken, while any is unknown, or for roles that may not take them all.
 */
export function firstSteps({ view, may }: Visit, completed: CompletedSteps, apiBaseUrl: URL): Html | undefined {
  if (!needed.every(may)) return undefined;
  const { keys, verifications, monitors, deliveries } = completed;
  const steps = [keys, verifications, deliveries];
  if ([...steps, monitors].includes(undefined) || steps.every(Boolean)) return undefined;
  const { path, environment } = view;
  const call = firstCall({ baseUrl: apiBaseUrl, key: "$VENDOR_VERIFICATION_API_KEY", environment, scopes });
  const keyHint = html`Then make this call with it. The <a href="${new URL("/docs", apiBaseUrl).href}">API reference</a> has all others.`;
  const vendorHint =
    environment === "sandbox"
      ? html`To try it, enter the UEI <code>${SANDBOX_UEI}</code>, a sandbox vendor that passes.`
      : html`Enter what you know of a vendor, such as its UEI or its name.`;
  return html`<section class="card" aria-labelledby="first-steps">
<h2 id="first-steps">First steps in the ${view.name} environment</h2>
<ol class="steps">
<li>${step(keys, "Create an API key", `${path}/api-keys`, keyHint)}
${!keys && copyable("first-call", "A first call", call)}</li>
<li>${step(verifications, "Verify a vendor", `${path}/verifications/new`, vendorHint)}</li>
<li>${webhookStep(view, { isDone: deliveries, isMonitored: !!monitors }, apiBaseUrl)}</li>
</ol>
</section>`;
}

/** Renders the step to a first webhook: a monitor of a vendor, in the sandbox of one that changes at every run. */
function webhookStep(
  { path, environment }: EnvironmentView,
  { isDone, isMonitored }: { isDone: boolean | undefined; isMonitored: boolean },
  apiBaseUrl: URL,
): Html {
  const name = "Receive changes by webhook";
  const guide = new URL("/docs#try-webhooks", apiBaseUrl).href;
  const onYourMachine =
    environment === "sandbox" && html` It can <a href="${guide}">run on your machine</a>, as the reference shows.`;
  if (isMonitored) {
    return step(
      isDone,
      name,
      `${path}/webhooks/test`,
      html`Send a test event to your webhook endpoint.${onYourMachine}`,
    );
  }
  if (environment === "live") {
    const hint = html`Find a vendor, and monitor it on its page with the URL of your webhook endpoint.`;
    return step(isDone, name, `${path}/vendors/search`, hint);
  }
  const hint = html`Open the vendor <code>${CHANGING_UEI}</code>, which changes at every run, and monitor it every hour with the URL of your webhook endpoint.${onYourMachine}`;
  return step(isDone, name, `${path}/vendors/search?uei=${CHANGING_UEI}#found`, hint);
}

/** Renders a step, with how to take it until it is done. */
function step(isDone: boolean | undefined, name: string, href: string, hint: Html): Html {
  return isDone
    ? html`${state("pass", "done")} ${name}`
    : html`<a href="${href}">${name}</a> <span class="hint">${hint}</span>`;
}
