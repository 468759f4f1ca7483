import type { Session } from "@vvs/proto/account/v1/sessions";
import type { EnvironmentView } from "./environments.ts";
import { type Html, html } from "./html.ts";

const PAYABLES = ["read", "verify", "manage_monitors"] as const;
const DEVELOPER = [...PAYABLES, "manage_keys", "manage_webhooks"] as const;
const OWNER = [...DEVELOPER, "manage_members", "read_audit_log"] as const;

/**
 * What a page or form requires. Every member has `read`. Webhook secrets are shown only with `manage_webhooks`. No role has
 * `operate`: operators of the product have it with any role, and nobody else has it.
 */
export type Permission = (typeof OWNER)[number] | "operate";

interface Role {
  readonly name: string;
  readonly plural: string;
  /** Explains the role, as the end of a sentence. */
  readonly may: string;
  readonly permissions: readonly Permission[];
}

const owner: Role = {
  name: "Owner",
  plural: "owners",
  may: "can do everything, including managing members and reading the audit log",
  permissions: OWNER,
};

const developer: Role = {
  name: "Developer",
  plural: "developers",
  may: "can run verifications and manage monitors, API keys and webhooks, including webhook secrets",
  permissions: DEVELOPER,
};

const payables: Role = {
  name: "Payables",
  plural: "members for payables",
  may: "can verify and monitor vendors and see all lists, but can’t manage API keys, webhooks or members, and sees no secrets",
  permissions: PAYABLES,
};

const readOnly: Role = {
  name: "Read-only",
  plural: "all members",
  may: "can see everything except secrets, and can change nothing",
  permissions: ["read"],
};

/** All roles by their code, the most powerful first. */
export const roles: ReadonlyMap<string, Role> = new Map(
  Object.entries({ owner, developer, payables, read_only: readOnly }),
);

export function roleName(role: string): string {
  return roles.get(role)?.name ?? role;
}

/** Returns whether the user of a session has a permission, by their role or as an operator. An unknown role has none. */
export function permits({ role, isOperator }: Pick<Session, "role" | "isOperator">, permission: Permission): boolean {
  return permission === "operate" ? isOperator : (roles.get(role)?.permissions.includes(permission) ?? false);
}

/** Renders a hint in place of a form: which roles may use it, and where to find an owner. `what` continues "… can". */
export function permissionHint(view: EnvironmentView, permission: Permission, what: string): Html {
  const plurals = [...roles.values()].filter(({ permissions }) => permissions.includes(permission));
  const names = new Intl.ListFormat("en-GB").format(plurals.map(({ plural }) => plural));
  const who = names.charAt(0).toUpperCase() + names.slice(1);
  return html`<p class="hint permission-hint">${who} can ${what}. Your role can’t. <a href="${view.path}/organization/members">An owner can change your role</a>.</p>`;
}
