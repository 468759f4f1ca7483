import { scopes } from "@vvs/api-keys";
import { type Html, html } from "../http/html.ts";
import type { Visit } from "../http/session.ts";
import { copyable, state } from "../ui/parts.ts";
import type { Permission } from "../ui/roles.ts";
import { firstCall, SANDBOX_UEI } from "./first-call.ts";

/** Which first steps an organization has taken; undefined while that is unknown. */
export interface CompletedSteps {
  readonly keys: boolean | undefined;
  readonly verifications: boolean | undefined;
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
  const steps = [keys, verifications, monitors, deliveries];
  if (steps.includes(undefined) || steps.every(Boolean)) return undefined;
  const { path, environment } = view;
  const call = firstCall({ baseUrl: apiBaseUrl, key: "$VENDOR_VERIFICATION_API_KEY", environment, scopes });
  const vendor =
    environment === "sandbox"
      ? html`To try it, enter the UEI <code>${SANDBOX_UEI}</code>, a sandbox vendor that passes.`
      : "Enter what you know of a vendor, such as its UEI or its name.";
  const next = monitors ? "webhooks/test" : "monitors/new";
  return html`<section class="card" aria-labelledby="first-steps">
<h2 id="first-steps">First steps in the ${view.name} environment</h2>
<ol class="steps">
<li>${step(keys, `${path}/api-keys`, "Create an API key")} <span class="hint">Then make this call. The <a href="${new URL("/docs", apiBaseUrl).href}">API reference</a> has all others.</span>
${!keys && copyable("first-call", "A first call", call)}</li>
<li>${step(verifications, `${path}/verifications/new`, "Verify a vendor")} <span class="hint">${vendor}</span></li>
<li>${step(monitors && deliveries, `${path}/${next}`, "Receive changes by webhook")} <span class="hint">${monitors ? "Send a test event to your webhook endpoint." : "Create a monitor: it checks a vendor regularly, and reports changes to your webhook endpoint."}</span></li>
</ol>
</section>`;
}

function step(isDone: boolean | undefined, href: string, name: string): Html {
  return isDone ? html`${state("pass", "done")} ${name}` : html`<a href="${href}">${name}</a>`;
}
