import { type Html, html } from "../http/html.ts";
import type { Visit } from "../http/session.ts";

const tabs = [
  { path: "", name: "Plan and limits" },
  { path: "/members", name: "Members" },
  { path: "/audit-log", name: "Audit log" },
] as const;

/** Renders the tabs of the organization's pages; the audit log only for users who may read it. */
export function organizationTabs({ view, may }: Visit, current: (typeof tabs)[number]["name"]): Html {
  const shown = tabs.filter(({ path }) => may("read_audit_log") || path !== "/audit-log");
  return html`<nav class="tabs" aria-label="Organization"><ul class="sections">
${shown.map(({ path, name }) => html`<li><a href="${view.path}/organization${path}"${name === current && html` aria-current="page"`}>${name}</a></li>`)}
</ul></nav>`;
}
