import type { EnvironmentView } from "../environments.ts";
import { type Html, html } from "../http/html.ts";

const tabs = [
  { path: "", name: "Plan and limits" },
  { path: "/members", name: "Members" },
  { path: "/audit-log", name: "Audit log" },
] as const;

export type OrganizationTab = (typeof tabs)[number]["name"];

/** The pages about the organization; the audit log for those alone who may read it. */
export function organizationTabs(view: EnvironmentView, current: OrganizationTab, mayAudit: boolean): Html {
  const shown = tabs.filter(({ path }) => mayAudit || path !== "/audit-log");
  return html`<nav class="tabs" aria-label="Organization"><ul class="sections">
${shown.map(({ path, name }) => html`<li><a href="${view.path}/organization${path}"${name === current && html` aria-current="page"`}>${name}</a></li>`)}
</ul></nav>`;
}
