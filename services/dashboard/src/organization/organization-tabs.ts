import { type Html, html } from "../http/html.ts";
import type { EnvironmentView } from "../ui/environments.ts";

const tabs = [
  { path: "", name: "Plan and limits" },
  { path: "/members", name: "Members" },
  { path: "/audit-log", name: "Audit log" },
] as const;

export type OrganizationTab = (typeof tabs)[number]["name"];

/** Renders the tabs of the organization's pages; the audit log only for users who may read it. */
export function organizationTabs(view: EnvironmentView, current: OrganizationTab, mayAudit: boolean): Html {
  const shown = tabs.filter(({ path }) => mayAudit || path !== "/audit-log");
  return html`<nav class="tabs" aria-label="Organization"><ul class="sections">
${shown.map(({ path, name }) => html`<li><a href="${view.path}/organization${path}"${name === current && html` aria-current="page"`}>${name}</a></li>`)}
</ul></nav>`;
}
