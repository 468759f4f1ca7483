import { type Html, html } from "../http/html.ts";
import type { EnvironmentView } from "./environments.ts";
import { type Permission, rolesThatMay } from "./permissions.ts";

const plurals: Readonly<Record<string, string>> = {
  owner: "owners",
  developer: "developers",
  read_only: "all members",
};

/** Renders a hint in place of a form: which roles may use it, and where to find an owner. `what` continues "… can", such as "create API keys". */
export function whoMay(view: EnvironmentView, permission: Permission, what: string): Html {
  const names = rolesThatMay(permission).map((role) => plurals[role]!);
  const [first = "", ...others] = names;
  const who = [first.charAt(0).toUpperCase() + first.slice(1), ...others].join(" and ");
  return html`<p class="hint who-may">${who} can ${what}. Your role can’t. <a href="${view.path}/organization/members">An owner can change your role</a>.</p>`;
}
