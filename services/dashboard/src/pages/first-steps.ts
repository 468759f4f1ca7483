import { type Html, html } from "../http/html.ts";
import type { Visit } from "../http/session.ts";
import type { Permission } from "../permissions.ts";
import { state } from "./parts.ts";

/** What an organization did already; undefined where that can't be told at the moment. */
export interface Begun {
  readonly keys: boolean | undefined;
  readonly verifications: boolean | undefined;
  readonly monitors: boolean | undefined;
  /** Was anything sent to a webhook yet? */
  readonly deliveries: boolean | undefined;
}

const steps: readonly {
  readonly of: keyof Begun;
  readonly asks: Permission;
  readonly path: string;
  readonly name: string;
  readonly why: string;
}[] = [
  {
    of: "keys",
    asks: "manage_keys",
    path: "api-keys",
    name: "Create an API key",
    why: "Its page shows a first call to copy.",
  },
  {
    of: "verifications",
    asks: "verify",
    path: "verifications/new",
    name: "Verify a vendor",
    why: "Here, or with your key.",
  },
  {
    of: "monitors",
    asks: "manage_monitors",
    path: "monitors/new",
    name: "Watch a vendor",
    why: "A monitor checks it again and again.",
  },
  {
    of: "deliveries",
    asks: "manage_webhooks",
    path: "webhooks/test",
    name: "Receive a webhook",
    why: "A test event shows what yours will get.",
  },
];

/** Shown until all is done, only where all of it can be told, and to those who may do all of it. */
export function firstSteps(visit: Pick<Visit, "view" | "may">, begun: Begun): Html | undefined {
  const { view, may } = visit;
  if (!steps.every(({ asks }) => may(asks))) return undefined;
  const known = steps.every(({ of }) => begun[of] !== undefined);
  if (!known || steps.every(({ of }) => begun[of])) return undefined;
  return html`<section class="card" aria-labelledby="first-steps">
<h2 id="first-steps">First steps in ${view.name.toLowerCase()}</h2>
<ol class="steps">${steps.map(
    ({ of, path, name, why }) =>
      html`<li>${begun[of] ? html`${state("pass", "done")} ${name}` : html`<a href="${view.path}/${path}">${name}</a> <span class="hint">${why}</span>`}</li>`,
  )}</ol>
</section>`;
}
