import { type Html, html } from "../http/html.ts";
import type { Visit } from "../http/session.ts";
import { state } from "../ui/parts.ts";
import type { Permission } from "../ui/roles.ts";

/** Which first steps an organization has taken; undefined while that is unknown. */
export interface CompletedSteps {
  readonly keys: boolean | undefined;
  readonly verifications: boolean | undefined;
  readonly monitors: boolean | undefined;
  /** Whether anything was sent to a webhook endpoint yet. */
  readonly deliveries: boolean | undefined;
}

const steps: readonly {
  readonly step: keyof CompletedSteps;
  readonly permission: Permission;
  readonly path: string;
  readonly name: string;
  readonly why: string;
}[] = [
  {
    step: "keys",
    permission: "manage_keys",
    path: "api-keys",
    name: "Create an API key",
    why: "You then get a first API call to copy.",
  },
  {
    step: "verifications",
    permission: "verify",
    path: "verifications/new",
    name: "Verify a vendor",
    why: "Run a verification here or with your API key.",
  },
  {
    step: "monitors",
    permission: "manage_monitors",
    path: "monitors/new",
    name: "Monitor a vendor",
    why: "A monitor checks a vendor regularly and reports changes.",
  },
  {
    step: "deliveries",
    permission: "manage_webhooks",
    path: "webhooks/test",
    name: "Receive a webhook",
    why: "Send a test event to your webhook endpoint.",
  },
];

/** Renders the first steps; nothing once all are taken, while any is unknown, or for roles that may not take them all. */
export function firstSteps({ view, may }: Visit, completed: CompletedSteps): Html | undefined {
  if (!steps.every(({ permission }) => may(permission))) return undefined;
  const known = steps.every(({ step }) => completed[step] !== undefined);
  if (!known || steps.every(({ step }) => completed[step])) return undefined;
  return html`<section class="card" aria-labelledby="first-steps">
<h2 id="first-steps">First steps in the ${view.name} environment</h2>
<ol class="steps">${steps.map(
    ({ step, path, name, why }) =>
      html`<li>${completed[step] ? html`${state("pass", "done")} ${name}` : html`<a href="${view.path}/${path}">${name}</a> <span class="hint">${why}</span>`}</li>`,
  )}</ol>
</section>`;
}
