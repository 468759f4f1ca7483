import { readFileSync } from "node:fs";
import { html } from "@vvs/http/html";
import { type Prepared, prepare } from "./http/prepared.ts";
import { openApiDocument, openApiText, openApiYaml } from "./openapi/document.ts";
import type { Document } from "./reference/document.ts";
import { referencePage } from "./reference/page.ts";
import { postmanCollection } from "./reference/postman.ts";

const TITLE = "Vendor Verification API";

/** Headers of the reference page, which has a style sheet and a script of this host. */
const PAGE_HEADERS = {
  "Content-Security-Policy":
    "default-src 'none'; style-src 'self'; script-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
};

/** Returns the answer at /, which leads people and programs to what they can read. */
export function entrance(version: string, baseUrl: string): { readonly json: Prepared; readonly html: Prepared } {
  const links = { docs: `${baseUrl}/docs`, openapi: `${baseUrl}/v1/openapi.json` };
  const headers = { Vary: "Accept, Accept-Encoding" };
  const page = html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${TITLE}</title></head>
<body>
<h1>${TITLE}</h1>
<p>Version ${version}</p>
<p><a href="${links.docs}">Reference</a> · <a href="${links.openapi}">OpenAPI document</a></p>
</body>
</html>
`;
  return {
    json: prepare(JSON.stringify({ name: TITLE, version, ...links }), "application/json", headers),
    html: prepare(page.markup, "text/html; charset=utf-8", headers),
  };
}

/** Returns what everyone may read without an API key, by path: the OpenAPI document in two forms, the Postman collection, and the reference page with its files. */
export function publicDocuments(version: string, publicBaseUrl: string): ReadonlyMap<string, Prepared> {
  const openApi: object = openApiDocument(version, publicBaseUrl);
  const document = openApi as Document;
  const file = (name: string, type: string) =>
    prepare(readFileSync(new URL(`reference/static/${name}`, import.meta.url), "utf8"), `${type}; charset=utf-8`);
  return new Map([
    ["/v1/openapi.json", prepare(openApiText(document), "application/json")],
    ["/v1/openapi.yaml", prepare(openApiYaml(document), "application/yaml")],
    ["/docs", prepare(referencePage(document, publicBaseUrl), "text/html; charset=utf-8", PAGE_HEADERS)],
    ["/docs/postman.json", prepare(openApiText(postmanCollection(document, publicBaseUrl)), "application/json")],
    ["/docs/style.css", file("style.css", "text/css")],
    ["/docs/page.js", file("page.js", "text/javascript")],
  ]);
}
