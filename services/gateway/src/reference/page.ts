import { type Html, html } from "@vvs/http/html";
import { languageSwitch } from "./code.ts";
import { type Document, operationsOf } from "./document.ts";
import { appendix, introduction, webhookGuide } from "./guide.ts";
import { markdown } from "./markdown.ts";
import { operationSection, webhookSection } from "./operation.ts";
import { describeSchema } from "./schema.ts";

interface Section {
  readonly id: string;
  readonly title: string;
  readonly content: Html;
  /** Links within the section. */
  readonly links?: readonly { readonly id: string; readonly title: string }[];
}

/** Returns the reference page of the OpenAPI document. `baseUrl` is the address of the service for clients. */
export function referencePage(document: Document, baseUrl: string): string {
  const sections: readonly Section[] = [
    ...introduction(baseUrl),
    ...document.tags.map(({ name, description }) => jobSection(document, name, description)),
    {
      id: "objects",
      title: "Objects",
      content: html`${Object.entries(document.components.schemas).map(objectSection)}`,
    },
    ...appendix(document),
  ];
  const { markup } = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Vendor Verification API</title>
<link rel="stylesheet" href="/docs/style.css">
<script src="/docs/page.js" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header>
<h1>Vendor Verification API</h1>
<p>Version ${document.info.version} · <a href="/v1/openapi.json">OpenAPI document</a> (<a href="/v1/openapi.yaml">YAML</a>) · <a href="/docs/postman.json">Postman collection</a></p>
</header>
<div class="columns">
<nav aria-label="Contents">
<ul>${sections.map(navigationEntry)}</ul>
</nav>
<main id="content">
<div class="bar">
<search hidden><label for="search">Search</label> <input type="search" id="search" placeholder="operations, errors, reasons" autocomplete="off" aria-keyshortcuts="/" aria-controls="found">
<output for="search"></output><ol id="found"></ol></search>
${languageSwitch}
</div>
<section aria-label="About this interface">${markdown(document.info.description)}</section>
${sections.map(
  ({ id, title, content }) => html`<section id="${id}" aria-labelledby="${id}-heading">
<h2 id="${id}-heading">${title}</h2>
${content}
</section>
`,
)}
</main>
</div>
</body>
</html>
`;
  return markup;
}

function navigationEntry({ id, title, links = [] }: Section): Html {
  return html`<li><a href="#${id}">${title}</a>${
    links.length > 0 && html`<ul>${links.map((link) => html`<li><a href="#${link.id}">${link.title}</a></li>`)}</ul>`
  }</li>
`;
}

/** Returns the section with all operations of a job. */
function jobSection(document: Document, tag: string, description: string): Section {
  const operations = operationsOf(document, tag);
  const webhooks = Object.entries(document.webhooks).filter(([, { post }]) => post.tags.includes(tag));
  const content = html`${markdown(description)}${webhooks.length > 0 && webhookGuide}
${operations.map(({ method, path, operation }) => operationSection(document, method, path, operation))}
${webhooks.map(([name, { post }]) => webhookSection(document, name, post))}`;
  const links = [...operations.map(({ operation }) => operation), ...webhooks.map(([, { post }]) => post)];
  return {
    id: `job-${tag.toLowerCase().replaceAll(" ", "-")}`,
    title: tag,
    content,
    links: links.map(({ operationId, summary }) => ({ id: operationId, title: summary })),
  };
}

function objectSection([name, schema]: [string, Document["components"]["schemas"][string]]): Html {
  return html`<section id="schema-${name}">
<h3>${name}</h3>
${schema.description && markdown(schema.description)}
${describeSchema(schema)}
</section>
`;
}
