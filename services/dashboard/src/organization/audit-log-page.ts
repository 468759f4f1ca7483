import { scopes as allScopes } from "@vvs/api-keys";
import type { AuditEntry, ListAuditEntriesResponse } from "@vvs/proto/account/v1/audit_log";
import type { Member } from "@vvs/proto/account/v1/members";
import { Environment } from "@vvs/proto/common/v1/common";
import { type Html, html } from "../http/html.ts";
import type { Visit } from "../http/session.ts";
import { live, test } from "../ui/environments.ts";
import { inputField, option, selectField } from "../ui/fields.ts";
import { filterBox } from "../ui/filter-box.ts";
import { pager } from "../ui/listing.ts";
import { breakable, time } from "../ui/parts.ts";
import { roleName } from "../ui/roles.ts";
import { type AuditFilter, OPERATOR } from "./audit-filter.ts";
import { auditActions, auditPhrase } from "./audit-words.ts";
import { organizationTabs } from "./organization-tabs.ts";

interface AuditLogView {
  readonly visit: Visit;
  readonly list: AuditFilter;
  readonly members: readonly Member[];
  /** Undefined if the filter is invalid. */
  readonly found: ListAuditEntriesResponse | undefined;
  readonly isFirst: boolean;
}

const pathOf = ({ view }: Visit) => `${view.path}/organization/audit-log`;

export function auditLogPage(options: AuditLogView): Html {
  const { visit, list, found } = options;
  return html`<h1>${visit.session.organizationName}</h1>
${organizationTabs(visit, "Audit log")}
${filterForm(options)}
${
  found &&
  html`<section aria-labelledby="log">
<h2 id="log">${list.isNarrowed ? "Matching actions" : "Actions"}</h2>
${entryList(options, found)}
<p class="hint">Shows actions in both environments, newest first. Entries are kept for ${found.keptDays} days and can’t be changed. Times are in UTC.</p>
</section>`
}`;
}

function filterForm(options: AuditLogView): Html {
  const { filter, problems } = options.list;
  const path = pathOf(options.visit);
  const actorOptions = [
    option("", filter.actor, "Anyone"),
    ...actorsOf(options).map(([id, name]) => option(id, filter.actor, name)),
  ];
  const actionOptions = Object.entries(auditActions).map(([area, actions]) => {
    const names = Object.entries(actions).map(
      ([action, phrase]) => [action, phrase.replace(/ of$| for$/, "")] as const,
    );
    return html`<optgroup label="${area}">${names.map(([action, name]) => option(action, filter.action, name))}</optgroup>`;
  });
  const attributes = html` type="datetime-local"`;
  return filterBox({
    path,
    label: "Filter the audit log",
    list: options.list,
    fields: html`${selectField({ name: "actor", label: "Person", options: actorOptions, problem: problems.actor })}
    ${selectField({ name: "action", label: "Action", options: [option("", filter.action, "Any action"), ...actionOptions], problem: problems.action })}
    ${inputField({ name: "from", label: "From (UTC)", attributes, value: filter.from, problem: problems.from })}
    ${inputField({ name: "to", label: "Before (UTC)", attributes, value: filter.to, problem: problems.to })}`,
  });
}

/** Returns the actors to choose from: the members, the operator and the actor of the current filter. */
function actorsOf({ list: { filter }, members, found }: AuditLogView): [id: string, name: string][] {
  const known: [string, string][] = members.map(({ userId, email }) => [userId, email]);
  if (filter.actor && filter.actor !== OPERATOR && !known.some(([id]) => id === filter.actor)) {
    const entry = found?.entries.find(({ actor }) => actor === filter.actor);
    known.push([filter.actor, entry?.actorEmail || filter.actor]);
  }
  return [...known, [OPERATOR, "the operator of the service"]];
}

function entryList({ visit, list, isFirst }: AuditLogView, { entries, next }: ListAuditEntriesResponse): Html {
  if (entries.length === 0) {
    const text = isFirst
      ? "No actions match. Choose a longer time, or show all actions."
      : "There are no older actions.";
    return html`<p class="empty">${text}</p>`;
  }
  return html`<table class="audit">
<thead><tr><th scope="col">Time</th><th scope="col">Person</th><th scope="col">Action</th><th scope="col">Environment</th><th scope="col">IP address and request</th></tr></thead>
<tbody>${entries.map((entry) => row(entry, visit))}</tbody>
</table>
${pager({ path: pathOf(visit), filter: list.filter, isFirst, next })}`;
}

/** Returns the name of an actor that is not a user. */
function actorName(actor: string): Html | string {
  if (actor === OPERATOR) return "the operator";
  if (actor === "anonymous") return "someone who was not signed in";
  if (actor.startsWith("key_")) return html`an API key <code class="hint">${actor}</code>`;
  const [, provider] = /^identity_provider:(.+)$/.exec(actor) ?? [];
  return provider ? `the identity provider ${provider}` : actor;
}

function row(entry: AuditEntry, visit: Visit): Html {
  const { at, actor, actorEmail, environment, clientAddress, requestId } = entry;
  const who = actorEmail ? breakable(actorEmail) : actorName(actor);
  return html`<tr>
<td data-label="Time">${time(at, "second")}</td>
<th scope="row" data-label="Person">${actorEmail ? html`<a href="${pathOf(visit)}?actor=${actor}">${who}</a>` : who}</th>
<td data-label="Action">${phraseOf(entry)}${targetOf(entry)}${detailList(entry)}</td>
<td data-label="Environment">${environmentName(environment)}</td>
<td data-label="IP address and request">${clientAddress ? html`<code>${clientAddress}</code>` : html`<span class="hint">unknown</span>`}${requestId && html` <span class="hint block request">${requestId}</span>`}</td>
</tr>
`;
}

function phraseOf({ action, actor, target }: AuditEntry): string {
  return action === "user.created" && actor === target ? "joined the organization" : auditPhrase(action);
}

function environmentName(environment: Environment): Html | string {
  if (environment === Environment.LIVE) return live.name;
  return environment === Environment.SANDBOX ? test.name : html`<span class="hint">both</span>`;
}

/** Renders the target of an action, unless the phrase already says it. */
function targetOf({ actor, target, targetEmail, action, details }: AuditEntry): Html | undefined {
  if (target === actor || target === "" || target.startsWith("org_")) return undefined;
  if (target.startsWith("inv_") && details.email) return html` to <strong>${breakable(details.email)}</strong>`;
  if (targetEmail) return html` <strong>${breakable(targetEmail)}</strong>`;
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
function detailList({ target, details }: AuditEntry): Html | undefined {
  const known = Object.entries(details).filter(([name]) => !(name === "email" && target.startsWith("inv_")));
  if (known.length === 0) return undefined;
  return html`<ul class="plain hint">${known.map(([name, value]) => html`<li>${detailNames[name] ?? name.replaceAll("_", " ")} ${valueText(name, value)}</li>`)}</ul>`;
}
