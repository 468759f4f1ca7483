import type { EnvironmentView } from "../environments.ts";
import { type Html, html } from "../http/html.ts";
import { type Permission, rolesThatMay } from "../permissions.ts";

const plurals: Readonly<Record<string, string>> = { owner: "owners", developer: "developers", read_only: "everybody" };

/** In the place of a form: who may use it, and where to find them. `what` goes on after "may", such as "create keys". */
export function whoMay(view: EnvironmentView, permission: Permission, what: string): Html {
  const names = rolesThatMay(permission).map((role) => plurals[role]!);
  const [first = "", ...others] = names;
  const who = [first.charAt(0).toUpperCase() + first.slice(1), ...others].join(" and ");
  return html`<p class="hint who-may">${who} may ${what}. Your role may not; <a href="${view.path}/organization/members">an owner can give you another</a>.</p>`;
}
