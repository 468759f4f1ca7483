import { scopes as allScopes } from "@vvs/api-keys";
import { isId } from "@vvs/ids";
import type { AuditEntry } from "@vvs/proto/account/v1/audit_log";
import { Environment } from "@vvs/proto/common/v1/common";
import { live, test } from "../http/environments.ts";
import { type Html, html } from "../http/html.ts";
import { roleName } from "../http/roles.ts";
import { byTime, listPage } from "../page/list-page.ts";
import type { PageContext } from "../page/page-context.ts";
import { choiceField, offeredField, periodFields, utcTime } from "../ui/filter.ts";
import { time } from "../ui/parts.ts";
import { aside, none } from "../ui/table.ts";
import { auditActions, auditPhrase } from "./audit-words.ts";
import { organizationTabs } from "./organization-tabs.ts";

/** The actor of actions by the operator of the service, who is no user of the organization. */
const OPERATOR = "operator";

const fields = {
  actor: offeredField("Person", {
    accepts: (text) => text === OPERATOR || isId("usr", text),
    problem: "Choose one of the listed people.",
    offer: (emails: ReadonlyMap<string, string>) => ({
      "": "Anyone",
      ...Object.fromEntries(emails),
      [OPERATOR]: "the operator of the service",
    }),
  }),
  action: choiceField(
    "Action",
    {
      "": "Any action",
      ...Object.fromEntries(
        Object.entries(auditActions).map(([area, actions]) => [
          area,
          Object.fromEntries(
            Object.entries(actions).map(([action, phrase]) => [action, phrase.replace(/ of$| for$/, "")]),
          ),
        ]),
      ),
    },
    { problem: "Choose one of the listed actions." },
  ),
  ...periodFields,
};

const PATH = "/organization/audit-log";

/** Creates the audit log: who did what, when and from where. */
export const createAuditLog = ({ organization, auditLog, ...context }: PageContext) =>
  listPage(context, {
    path: PATH,
    noun: "actions",
    title: "Audit log",
    fields,
    positions: byTime("log"),
    limit: 50,
    async read({ bySession }, { actor, action, from, to }, page) {
      const times = { from: utcTime(from), to: utcTime(to) };
      const found = await auditLog.listAuditEntries({ ...bySession, actor, action, ...times, page });
      return { ...found, rows: found.entries };
    },
    /** Returns the email addresses of the members, and of the actor of the rows, who may have left. */
    async readChoices({ bySession }, found) {
      const { members } = await organization.listMembers(bySession);
      const acted = (found?.rows ?? []).filter(({ actor, actorEmail }) => actorEmail && isId("usr", actor));
      return new Map([...acted.map(nameOfActor), ...members.map(({ userId, email }) => [userId, email] as const)]);
    },
    columns: ({ visit: { view } }) => [
      [
        "Person",
        ({ actor, actorEmail }) =>
          actorEmail ? html`<a href="${view.path}${PATH}?actor=${actor}">${actorEmail}</a>` : actorName(actor),
        "long",
      ],
      ["Action", (entry) => html`${phraseOf(entry)}${targetOf(entry)}${detailsOf(entry)}`, "long"],
      ["Time", ({ at }) => time(at, "second")],
      ["Environment", ({ environment }) => environmentName(environment)],
      [
        "IP address and request",
        ({ clientAddress, requestId }) =>
          html`${clientAddress ? html`<code>${clientAddress}</code>` : none("unknown")}${aside(requestId)}`,
        "long",
      ],
    ],
    pageHeading: ({ session }) => session.organizationName,
    intro: (visit) => organizationTabs(visit, "Audit log"),
    heading: (_visit, { isNarrowed }) => (isNarrowed ? "Matching actions" : "Actions"),
    below: ({ keptDays }) =>
      html`<p class="hint">Shows actions in both environments, newest first. Entries are kept for ${keptDays} days and can’t be changed. Times are in UTC.</p>`,
    empty: () => "No actions match. Choose a longer time, or show all actions.",
  });

const nameOfActor = ({ actor, actorEmail }: AuditEntry) => [actor, actorEmail] as const;

/** Returns the name of an actor that is not a user. */
function actorName(actor: string): Html | string {
  if (actor === OPERATOR) return "the operator";
  if (actor === "anonymous") return "someone who was not signed in";
  if (actor.startsWith("key_")) return html`an API key <code class="hint">${actor}</code>`;
  const [, provider] = /^identity_provider:(.+)$/.exec(actor) ?? [];
  return provider ? `the identity provider ${provider}` : actor;
}

function phraseOf({ action, actor, target }: AuditEntry): string {
  return action === "user.created" && actor === target ? "joined the organization" : auditPhrase(action);
}

function environmentName(environment: Environment): Html | string {
  if (environment === Environment.LIVE) return live.name;
  return environment === Environment.SANDBOX ? test.name : none("both");
}

/** Renders the target of an action, unless the phrase already says it. */
function targetOf({ actor, target, targetEmail, action, details }: AuditEntry): Html | undefined {
  if (target === actor || target === "" || target.startsWith("org_")) return undefined;
  if (target.startsWith("inv_") && details.email) return html` to <strong>${details.email}</strong>`;
  if (targetEmail) return html` <strong>${targetEmail}</strong>`;
  // The row already shows what these are: an organization and its environment, or a URL's host.
  return /^webhook_(secret|endpoint)\./.test(action) ? undefined : html` <code>${target}</code>`;
}

const detailNames: Readonly<Record<string, string>> = {
  event_id: "event",
  limit_per_minute: "requests per minute",
  previous: "the previous secret is",
  host: "to",
  previous_host: "from",
};

/** Returns the display text of a detail's value. */
function valueText(name: string, value: string): string {
  if (name === "scopes" && allScopes.every((scope) => value.split(" ").includes(scope))) return "all";
  return roleName(value);
}

/** Renders the details of an entry as names and values, without the address that names an invitation. */
function detailsOf({ target, details }: AuditEntry): Html | undefined {
  const known = Object.entries(details).filter(([name]) => !(name === "email" && target.startsWith("inv_")));
  return aside(
    known
      .map(([name, value]) => `${detailNames[name] ?? name.replaceAll("_", " ")} ${valueText(name, value)}`)
      .join(", "),
  );
}
