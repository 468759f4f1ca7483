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

export type Section = keyof typeof sections | "security" | "notifications";

/** Returns the section of a page by its path. */
export function sectionOf(path: string): Section {
  const name = path.split("/")[2] ?? "";
  if (name === "evidence") return "verifications";
  if (name === "screening") return "vendors";
  return name in sections || name === "security" || name === "notifications" ? (name as Section) : "overview";
}

export interface Layout {
  /** Sends a page of a signed-in user, with the header and navigation of its environment. */
  sendPage(response: Response, page: Page): void;
  /** Sends a page outside any environment, such as the sign-in page or an error page. */
  sendBarePage(response: Response, page: BarePage): void;
  /** Sends such a page with one narrow card, under the title of the page unless `heading` is another one. */
  sendCard(response: Response, page: BarePage & { heading?: string; notice?: Notice | undefined }): void;
}

export interface BarePage {
  readonly title: string;
  readonly content: Html;
  /** HTTP status; 200 if absent. */
  readonly status?: number;
  /** A script that this page needs besides the scripts of every page. */
  readonly script?: AssetName;
  /** Whether it shows work that goes on, so that it is loaded again every few seconds. */
  readonly refreshes?: boolean | undefined;
}

export interface Page extends BarePage {
  readonly visit: Visit;
  readonly section: Section;
}

export function createLayout(options: { assetPath: AssetPath }): Layout {
  const { assetPath } = options;

  function send(
    response: Response,
    page: BarePage & { bodyClass: string; header: Html; footer?: Html; name: string },
  ): void {
    const document = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${page.name}</title>
<link rel="icon" href="${assetPath("icon.svg")}" type="image/svg+xml">
<link rel="stylesheet" href="${assetPath("style.css")}">
<script src="${assetPath("copy.js")}" defer></script>
${
  page.footer &&
  html`<script src="${assetPath("keys.js")}" defer></script>
<script src="${assetPath("busy.js")}" defer></script>
<script src="${assetPath("ticks.js")}" defer></script>`
}
${
  page.refreshes &&
  html`<script src="${assetPath("refresh.js")}" defer></script>
<noscript><meta http-equiv="refresh" content="5"></noscript>`
}
${page.script && html`<script src="${assetPath(page.script)}" defer></script>`}
</head>
<body class="${page.bodyClass}">
<a class="skip" href="#main">Skip to content</a>
${page.header}
<main id="main" tabindex="-1">
${page.content}
</main>
${page.footer}
</body>
</html>
`;
    response
      .status(page.status ?? 200)
      .type("html")
      .send(document.markup);
  }

  const layout: Layout = {
    sendPage: (response, page) =>
      send(response, {
        ...page,
        bodyClass: page.visit.view.name.toLowerCase(),
        header: frame(page),
        footer: shortcutsHelp(sections),
        name: `${page.title} · ${page.visit.view.name} · Vendor Verification`,
      }),
    sendBarePage: (response, page) =>
      send(response, {
        ...page,
        bodyClass: "bare",
        header: html`<header class="bar"><a class="brand" href="/">Vendor Verification</a></header>`,
        name: `${page.title} · Vendor Verification`,
      }),
    sendCard: (response, { heading, notice, ...page }) =>
      layout.sendBarePage(response, {
        ...page,
        content: card(
          heading ?? page.title,
          html`${noticeBox(notice)}
${page.content}`,
        ),
      }),
  };
  return layout;
}

/** Renders a narrow card with the heading of its page. */
const card = (heading: string, content: Html): Html => html`<div class="card narrow">
<h1>${heading}</h1>
${content}
</div>`;

function frame({ visit, section }: Page): Html {
  const { view, session } = visit;
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
<p class="printed"><strong>${session.organizationName}</strong> · ${view.name} environment: ${view.explanation} As of ${exactTime(visit.now)}, for ${session.email}.</p>
${visit.alert}`;
}

function environmentLink(view: EnvironmentView, isCurrent: boolean, section: Section): Html {
  return html`<li><a href="${view.path}/${section}" data-key="${keyOf(view.name)}"${isCurrent && html` aria-current="true"`}>${view.name}</a></li>`;
}

/** Returns the shortcut key of a destination; empty if it has none. */
const keyOf = (to: string): string => (shortcutKeys as Readonly<Record<string, string>>)[to] ?? "";
