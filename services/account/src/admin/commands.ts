import { randomBytes } from "node:crypto";
import { type CallerContext, type Environment, environments } from "@vvs/tenant";
import { operator } from "../audit/audit.ts";
import type { AccountDomain } from "../domain.ts";
import { limitPerMinute, providerBudgets } from "../model/plans.ts";
import type { ApiKeyDocument, OrganizationDocument, UserDocument } from "../store.ts";

/** A command line that cannot be run. The message says how to correct it. */
export class UsageError extends Error {}

/** The flags of all commands. */
export const flags = {
  name: { type: "string" },
  plan: { type: "string" },
  limit: { type: "string" },
  provider: { type: "string" },
  minute: { type: "string" },
  day: { type: "string" },
  organization: { type: "string" },
  hosts: { type: "string" },
  email: { type: "string" },
  role: { type: "string" },
  successor: { type: "string" },
  "password-stdin": { type: "boolean" },
  environment: { type: "string" },
  scopes: { type: "string" },
  json: { type: "boolean" },
  help: { type: "boolean" },
} as const;

export type Flag = keyof typeof flags;

export interface Run {
  readonly domain: AccountDomain;
  /** Returns the value of a flag. Errors: UsageError if it is missing. */
  readonly required: (flag: Flag) => string;
  readonly optional: (flag: Flag) => string | undefined;
  /** The id that follows the command. */
  readonly id: string;
  /** Returns the password from standard input; undefined without --password-stdin. */
  readonly pipedPassword: () => Promise<string | undefined>;
}

export interface Command {
  /** What follows the command's name: the flags that it takes, after an id if it takes one. */
  readonly usage: string;
  readonly does: string;
  readonly run: (run: Run) => Promise<object>;
}

/** All commands by their two words. */
export const commands: Readonly<Record<string, Command>> = {
  "organization create": {
    usage: "--name NAME --plan starter|growth|enterprise [--limit REQUESTS_PER_MINUTE]",
    does: "creates an organization and its webhook secrets; --limit belongs to enterprise",
    run: async ({ domain, required, optional }) =>
      organizationView(
        await domain.organizations.create(operator, { name: required("name"), ...planOf(required, optional) }),
      ),
  },
  "organization list": {
    usage: "",
    does: "lists all organizations, newest first",
    run: async ({ domain }) => ({ organizations: (await domain.organizations.list()).map(organizationView) }),
  },
  "organization suspend": {
    usage: "ORGANIZATION_ID",
    does: "suspends an organization: its keys are refused and its users are signed out",
    run: async ({ domain, id }) => organizationView(await domain.organizations.suspend(operator, id)),
  },
  "organization resume": {
    usage: "ORGANIZATION_ID",
    does: "ends a suspension",
    run: async ({ domain, id }) => organizationView(await domain.organizations.resume(operator, id)),
  },
  "organization set-plan": {
    usage: "ORGANIZATION_ID --plan starter|growth|enterprise [--limit REQUESTS_PER_MINUTE]",
    does: "changes the plan; its keys get the new limit within seconds",
    run: async ({ domain, id, required, optional }) =>
      organizationView(await domain.organizations.setPlan(operator, id, planOf(required, optional))),
  },
  "organization set-budget": {
    usage: "ORGANIZATION_ID --provider NAME [--minute CALLS --day CALLS]",
    does: "sets how many calls an enterprise organization may cause at a live provider (sam_gov_api, taxbandits, compliancely); without numbers the plan's apply again",
    async run({ domain, id, required, optional }) {
      const isReset = optional("minute") === undefined && optional("day") === undefined;
      const budget = isReset ? undefined : { per_minute: Number(required("minute")), per_day: Number(required("day")) };
      const organization = await domain.organizations.setProviderBudget(operator, id, required("provider"), budget);
      return { ...organizationView(organization), provider_budgets: providerBudgets(organization) };
    },
  },
  "organization approve-tin-match": {
    usage: "ORGANIZATION_ID",
    does: "approves an organization for tin_match in the live environment: it may ask whether a name and a TIN match; effective within seconds",
    run: async ({ domain, id }) => organizationView(await domain.organizations.setLiveTinMatch(operator, id, true)),
  },
  "organization withdraw-tin-match": {
    usage: "ORGANIZATION_ID",
    does: "ends that: its live tin_match checks, monitors included, end in error with the reason not_enabled",
    run: async ({ domain, id }) => organizationView(await domain.organizations.setLiveTinMatch(operator, id, false)),
  },
  "organization set-private-hosts": {
    usage: "ORGANIZATION_ID [--hosts HOST,HOST]",
    does: "sets the exact hosts to which this organization's webhooks, and no other's, are delivered even at a private address; without --hosts none; effective within seconds",
    async run({ domain, id, optional }) {
      const hosts = optional("hosts")?.split(",") ?? [];
      const organization = await domain.organizations.setPrivateHosts(operator, id, hosts);
      return { ...organizationView(organization), private_hosts: organization.private_hosts ?? [] };
    },
  },
  "user create": {
    usage:
      "--organization ORGANIZATION_ID --email ADDRESS [--role owner|developer|payables|read_only] [--password-stdin]",
    does: "creates a user who may sign in to the dashboard, an owner by default; prints a generated password once, or reads one",
    run: ({ domain, required, optional, pipedPassword }) => {
      const user = { organizationId: required("organization"), email: required("email"), role: optional("role") };
      return withPassword(pipedPassword, (password) => domain.users.create(operator, { ...user, password }));
    },
  },
  "user set-password": {
    usage: "--email ADDRESS [--password-stdin]",
    does: "sets a new password and ends the user's sessions",
    run: ({ domain, required, pipedPassword }) =>
      withPassword(pipedPassword, (password) =>
        domain.users.setPassword(operator, { email: required("email"), password }),
      ),
  },
  "user list": {
    usage: "--organization ORGANIZATION_ID",
    does: "lists the users of an organization, oldest first",
    run: async ({ domain, required }) => ({
      users: (await domain.operatedUsers.list(required("organization"))).map(userView),
    }),
  },
  "user set-role": {
    usage: "--email ADDRESS --role owner|developer|payables|read_only [--successor ADDRESS]",
    does: "gives a user another role, effective from their next request; the last owner needs a successor, another member of the organization who becomes an owner in the same step",
    run: async ({ domain, required, optional }) => {
      const input = { email: required("email"), role: required("role"), successor: optional("successor") };
      return userView(await domain.operatedUsers.setRole(operator, input));
    },
  },
  "user make-operator": {
    usage: "--email ADDRESS",
    does: "makes a user one of the product's operators, who may see figures of all organizations together in the dashboard; only members of the operator's own organization should be",
    run: async ({ domain, required }) =>
      userView(await domain.operatedUsers.setOperator(operator, { email: required("email"), isOperator: true })),
  },
  "user unmake-operator": {
    usage: "--email ADDRESS",
    does: "ends that, from the user's next request",
    run: async ({ domain, required }) =>
      userView(await domain.operatedUsers.setOperator(operator, { email: required("email"), isOperator: false })),
  },
  "user remove": {
    usage: "--email ADDRESS [--successor ADDRESS]",
    does: "removes a user from their organization and ends their sessions; the last owner needs a successor, as above. They cannot return by single sign-on until an owner invites them",
    run: async ({ domain, required, optional }) =>
      userView(
        await domain.operatedUsers.remove(operator, { email: required("email"), successor: optional("successor") }),
      ),
  },
  "user turn-off-authenticator": {
    usage: "--email ADDRESS",
    does: "for a user who lost their authenticator app: turns it off, so that the password is enough; ends their sessions and notifies them by email",
    run: async ({ domain, required }) =>
      userView(await domain.operatedUsers.turnOffAuthenticator(operator, required("email"))),
  },
  "key create": {
    usage: "--organization ORGANIZATION_ID --environment live|sandbox --name NAME [--scopes SCOPE,SCOPE]",
    does: "creates an API key and prints its value, which is never shown again; without --scopes it has all",
    async run({ domain, required, optional }) {
      const scopes = optional("scopes")?.split(",");
      const created = await domain.apiKeys.create(tenantCaller(required), { name: required("name"), scopes });
      return { value: created.value, ...keyView(created.key) };
    },
  },
  "key list": {
    usage: "--organization ORGANIZATION_ID --environment live|sandbox",
    does: "lists the API keys of an environment, newest first, revoked ones too",
    run: async ({ domain, required }) => ({
      keys: (await domain.apiKeys.list(tenantCaller(required).tenant)).map(keyView),
    }),
  },
  "key revoke": {
    usage: "KEY_ID",
    does: "revokes an API key; it stops working within 5 seconds",
    run: async ({ domain, id }) => keyView(await domain.apiKeys.revokeAny(operator, id)),
  },
  "secret show": {
    usage: "--organization ORGANIZATION_ID --environment live|sandbox",
    does: "shows the webhook secret in clear",
    async run({ domain, required }) {
      const caller = tenantCaller(required);
      const { organizationId: organization_id, environment } = caller.tenant;
      const { value: secret, createdAt, previousValidUntil } = await domain.webhookSecrets.get(caller);
      const view = { organization_id, environment, secret, created_at: createdAt };
      return { ...view, ...(previousValidUntil && { previous_valid_until: previousValidUntil }) };
    },
  },
  "secret reseal": {
    usage: "",
    does: "re-encrypts all webhook secrets and authenticator apps' secrets with the first key of WEBHOOK_SECRET_KEYS, while the service runs; once nothing is left (exit code 0) the other keys can be dropped",
    run: ({ domain }) => domain.resealing.run(),
  },
};

function planOf(required: Run["required"], optional: Run["optional"]) {
  const limit = optional("limit");
  return { plan: required("plan"), ...(limit !== undefined && { limitPerMinute: Number(limit) }) };
}

function tenantCaller(required: Run["required"]): CallerContext {
  const environment = required("environment");
  if (!environments.includes(environment as Environment)) {
    throw new UsageError(`--environment must be one of ${environments.join(", ")}.`);
  }
  const tenant = { organizationId: required("organization"), environment: environment as Environment };
  return { tenant, actor: operator.actor, requestId: "" };
}

/** Runs with the password from standard input, or with a generated one that is printed. */
async function withPassword(
  pipedPassword: Run["pipedPassword"],
  run: (password: string) => Promise<UserDocument>,
): Promise<object> {
  const piped = await pipedPassword();
  const password = piped ?? randomBytes(15).toString("base64url");
  const { _id, email, organization_id, role } = await run(password);
  return { id: _id, email, organization_id, role, ...(piped === undefined && { password }) };
}

function organizationView(organization: OrganizationDocument) {
  const { _id: id, name, plan, status, live_tin_match = false, created_at } = organization;
  return { id, name, plan, limit_per_minute: limitPerMinute(organization), status, live_tin_match, created_at };
}

function userView({ _id: id, email, role, is_operator, totp, created_at, last_signed_in_at }: UserDocument) {
  const view = {
    id,
    email,
    role,
    is_operator: is_operator ?? false,
    has_authenticator: totp !== undefined,
    created_at,
  };
  return { ...view, ...(last_signed_in_at && { last_signed_in_at }) };
}

function keyView(key: ApiKeyDocument) {
  const { _id: id, organization_id, environment, name, start, last_four, scopes, created_by, created_at } = key;
  return {
    ...{ id, organization_id, environment, name, start, last_four, scopes, created_by, created_at },
    ...(key.expires_at && { expires_at: key.expires_at }),
    ...(key.revoked_at && { revoked_at: key.revoked_at }),
  };
}
