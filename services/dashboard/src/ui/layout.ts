import { exactTime } from "@vvs/registration";
import type { Response } from "express";
import type { AssetName, AssetPath } from "../http/assets.ts";
import { type EnvironmentView, environmentViews } from "../http/environments.ts";
import { type Html, html } from "../http/html.ts";
import type { Visit } from "../http/session.ts";
import { VERBATIM } from "./fields.ts";
import { breakable, type Notice, noticeBox } from "./parts.ts";
import { shortcutKeys, shortcutsHelp } from "./shortcuts.ts";

/** The sections in the navigation, in this order. */
const sections = {
  overview: "Overview",
  vendors: "Vendors",
  lists: "Lists",
  verifications: "Verifications",
  monitors: "Monitors",
  providers: "Providers",
  "api-keys": "API keys",
  webhooks: "Webhooks",
  requests: "Requests",
  usage: "Usage",
  organization: "Organization",
};

type Section = keyof typeof sections | "security" | "notifications";

/** The sections of pages whose paths do not begin with them. */
const others: Readonly<Record<string, Section>> = {
  evidence: "verifications",
  find: "vendors",
  notifications: "notifications",
  screening: "vendors",
  security: "security",
};

/** Returns the section of a page by its path. */
function sectionOf(path: string): Section {
  const name = path.split("/")[2] ?? "";
  return name in sections ? (name as Section) : (others[name] ?? "overview");
}

export interface Layout {
  sendPage(response: Response, page: Page): void;
  /** Sends a page with one narrow card. */
  sendCard(response: Response, page: Page): void;
}

export interface Page {
  /** Absent for pages outside any environment, such as the sign-in page or an error page. Others have its header and navigation. */
  readonly visit?: Visit;
  readonly title: string;
  /** The heading, if it is not the title; `false` if the content has one. */
  readonly heading?: Html | string | false | undefined;
  /** The pages above this one, from the top: their paths below the environment, and their names. */
  readonly parents?: readonly (readonly [path: string, name: string])[];
  /** What stands beside the heading, such as labels and links. */
  readonly beside?: Html | false | undefined;
  /** What was done, or why it was not done. */
  readonly notice?: Notice | undefined;
  readonly content: Html;
  /** HTTP status; 200 if absent. */
  readonly status?: number | undefined;
  /** A script that this page needs besides the scripts of every page. */
  readonly script?: AssetName;
  /** Whether it shows work that goes on, so that it is loaded again every few seconds. */
  readonly refreshes?: boolean | undefined;
}

export function createLayout({ assetPath }: { assetPath: AssetPath }): Layout {
  const script = (name: AssetName) => html`<script src="${assetPath(name)}" defer></script>
`;

  function send(response: Response, page: Page, main: Html): void {
    const { visit, title, status = 200 } = page;
    const environment = visit?.view.name;
    const document = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${[title, environment, "Vendor Verification"].filter(Boolean).join(" · ")}</title>
<link rel="icon" href="${assetPath("icon.svg")}" type="image/svg+xml">
<link rel="stylesheet" href="${assetPath("style.css")}">
${script("copy.js")}
${visit && [script("keys.js"), script("busy.js"), script("ticks.js")]}
${page.refreshes && html`${script("refresh.js")}<noscript><meta http-equiv="refresh" content="5"></noscript>`}
${page.script && script(page.script)}
</head>
<body class="${environment?.toLowerCase() ?? "bare"}">
<a class="skip" href="#main">Skip to content</a>
${visit ? frame(visit, sectionOf(response.req.path)) : html`<header class="bar"><a class="brand" href="/">Vendor Verification</a></header>`}
<main id="main" tabindex="-1">
${main}
</main>
${visit && shortcutsHelp(sections)}
</body>
</html>
`;
    response.status(status).type("html").send(document.markup);
  }

  return {
    sendPage: (response, page) => send(response, page, headed(page)),
    sendCard: (response, page) => send(response, page, html`<div class="card narrow">${headed(page)}</div>`),
  };
}

/** Renders the content of a page with its heading, the way to it above, and what was done below. */
function headed({ visit, parents = [], title, heading = title, beside, notice, content }: Page): Html {
  const links = parents.map(([path, name]) => html`<a href="${visit?.view.path}${path}">${name}</a>`);
  return html`${links.length > 0 && html`<p class="path">${links.flatMap((link, place) => (place > 0 ? [" › ", link] : [link]))}</p>`}
${heading !== false && html`<div class="heading"><h1>${heading}</h1> ${beside}</div>`}
${noticeBox(notice)}
${content}`;
}

function frame({ view, session, now, alert }: Visit, section: Section): Html {
  return html`<header>
<div class="environment">
  <p><strong>${view.name} environment</strong> <span>${view.explanation}</span></p>
  <nav aria-label="Environment"><ul class="switch">
    ${environmentViews.map((other) => environmentLink(other, other === view, section))}
  </ul></nav>
</div>
<div class="bar">
  <a class="brand" href="${view.path}/overview">Vendor Verification</a>
  <details class="menu wide-open"><summary class="button quiet">Menu</summary>
  <form method="post" action="${view.path}/find" class="find" role="search" aria-label="Everything">
    <label for="find" class="unseen">Find anything</label>
    <input id="find" name="q" type="search" maxlength="300" required${VERBATIM} placeholder="Name or ID">
    <button class="quiet">Find</button>
  </form>
  <nav aria-label="Sections"><ul class="sections">
    ${Object.entries(sections).map(
      ([path, name]) =>
        html`<li><a href="${view.path}/${path}" data-key="${keyOf(path)}"${path === section && html` aria-current="page"`}>${name}</a></li>`,
    )}
  </ul></nav>
  <div class="user">
    <p><span class="organization">${session.organizationName}</span> <a class="email" href="${view.path}/security"${section === "security" && html` aria-current="page"`}>${breakable(session.email)}<span class="unseen">: security</span></a></p>
    <form method="post" action="/sign-out"><button class="quiet">Sign out</button></form>
  </div>
  </details>
</div>
</header>
<p class="printed"><strong>${session.organizationName}</strong> · ${view.name} environment: ${view.explanation} As of ${exactTime(now)}, for ${session.email}.</p>
${alert}`;
}

function environmentLink(view: EnvironmentView, isCurrent: boolean, section: Section): Html {
  return html`<li><a href="${view.path}/${section}" data-key="${keyOf(view.name)}"${isCurrent && html` aria-current="true"`}>${view.name}</a></li>`;
}

/** Returns the shortcut key of a destination; empty if it has none. */
const keyOf = (to: string): string => (shortcutKeys as Readonly<Record<string, string>>)[to] ?? "";
