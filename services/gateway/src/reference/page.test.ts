import { describe, expect, test } from "@jest/globals";
import { reasonAnchor, reasons } from "@vvs/checks";
import { catalogue, type ErrorCode, ServiceError } from "@vvs/errors";
import { html } from "@vvs/http/html";
import { MAX_BODY_BYTES, MAX_JOB_BYTES, MAX_VENDOR_BYTES } from "../http/body.ts";
import { errorBody } from "../http/errors.ts";
import { MAX_VENDORS } from "../http/vendor-texts.ts";
import { MAX_CHECKS } from "../input/fields.ts";
import { MAX_ENTRIES } from "../input/identifiers.ts";
import { MAX_LIMIT } from "../input/page.ts";
import { openApiDocument } from "../openapi/document.ts";
import { operations } from "../openapi/operations.ts";
import { startTestGateway } from "../testing/gateway.ts";
import { languageCodes } from "./code.ts";
import type { Document } from "./document.ts";
import { referencePage } from "./page.ts";

const gateway = await startTestGateway();
const get = (path: string, headers: Record<string, string> = {}) => fetch(`${gateway.baseUrl}${path}`, { headers });

describe("the way to the reference", () => {
  test("leads from / to it and to the OpenAPI document, in JSON for programs and in HTML for browsers", async () => {
    const links = { docs: "https://api.example.test/docs", openapi: "https://api.example.test/v1/openapi.json" };
    const program = await get("/", { accept: "*/*" });
    expect([program.status, program.headers.get("content-type")]).toEqual([200, "application/json"]);
    expect(await program.json()).toEqual({ name: "Vendor Verification API", version: "1.2.3", ...links });
    const browser = await get("/", { accept: "text/html,application/xhtml+xml,*/*;q=0.8" });
    expect(browser.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(browser.headers.get("vary")).toMatch(/\bAccept\b/);
    const page = await browser.text();
    for (const link of Object.values(links)) expect(page).toContain(`href="${link}"`);
    expect((await fetch(`${gateway.baseUrl}/`, { method: "POST" })).status).toBe(405);
  });

  test("leads from /docs/ to /docs", async () => {
    const moved = await fetch(`${gateway.baseUrl}/docs/`, { redirect: "manual" });
    expect([moved.status, moved.headers.get("location")]).toEqual([308, "/docs"]);
    expect(await (await get("/docs/")).text()).toBe(await (await get("/docs")).text());
  });
});

describe("GET /docs", () => {
  test("allows only its own style and script, and contains none inline", async () => {
    const response = await get("/docs");
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(response.headers.get("content-security-policy")).toBe(
      "default-src 'none'; style-src 'self'; script-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    const page = await response.text();
    expect(page).not.toMatch(/<style|<script(?! src="\/docs\/page\.js" defer><\/script>)| style=| on\w+="/);
    const loaded = [...page.matchAll(/<(?:link|script|img|iframe)[^>]* (?:href|src)="([^"]+)"/g)].map(([, url]) => url);
    expect(loaded).toEqual(["/docs/style.css", "/docs/page.js"]);
    for (const [path, type] of [
      ["/docs/style.css", "text/css; charset=utf-8"],
      ["/docs/page.js", "text/javascript; charset=utf-8"],
    ] as const) {
      const asset = await get(path);
      expect([asset.status, asset.headers.get("content-type")]).toEqual([200, type]);
      expect((await asset.text()).length).toBeGreaterThan(0);
    }
  });

  test("explains each error where doc_url leads to, and each reason where its description says", async () => {
    const page = await (await get("/docs")).text();
    const baseUrl = "https://api.example.test";
    const address = `${baseUrl}/docs#`;
    const rowOf = (url: string, name: string) => {
      expect(url.startsWith(address)).toBe(true);
      expect(page).toContain(
        `<tr id="${url.slice(address.length)}"><th scope="row"><code>${html`${name}`.markup}</code>`,
      );
    };
    for (const code of Object.keys(catalogue) as ErrorCode[]) {
      rowOf(errorBody(new ServiceError(code), "req_1", baseUrl).doc_url, code);
    }
    for (const name of Object.keys(reasons)) rowOf(`${address}${reasonAnchor(name)}`, name);
    expect([reasonAnchor("excluded"), reasonAnchor("http_503")]).toEqual(["reason-excluded", "reason-http"]);
  });

  test("has every operation of the document with a call in every language", async () => {
    const page = await (await get("/docs")).text();
    for (const { method, path, docs } of operations) {
      for (const language of languageCodes) expect(page).toContain(`id="${docs.operationId}-${language}"`);
      expect(page).toContain(
        `<span class="method ${method.toLowerCase()}">${method}</span> <code>${path.replace(":id", "{id}")}</code>`,
      );
    }
  });

  test("shows the limits of each plan", async () => {
    const page = await (await get("/docs")).text();
    const rows = [
      ...page.matchAll(/<tr><th scope="row">([^<]*)<\/th><td>([^<]*)<\/td><td>([^<]*)<\/td><td>([^<]*)<\/td>/g),
    ];
    expect(rows.map(([, ...cells]) => cells)).toEqual(
      expect.arrayContaining([
        ["Requests per minute and key", "100", "500", "agreed"],
        ["Active monitors, live", "1,000", "10,000", "100,000"],
        ["Created entities, live", "25,000", "250,000", "1,000,000"],
        ["Active monitors, sandbox", "100", "100", "100"],
        ["Rows of jobs without their last answer", "10,000", "100,000", "100,000"],
      ]),
    );
  });

  test("names the limits of a request", async () => {
    const page = await (await get("/docs")).text();
    const told = `A body has at most ${MAX_BODY_BYTES / 1_000} kB, a page of a list at most ${MAX_LIMIT} items, a call at most ${MAX_CHECKS} checks, any other array at most ${MAX_ENTRIES} entries.`;
    expect(page).toContain(told);
    const ofJobs = `A <a href="#createJob">job</a> has at most ${MAX_VENDORS.toLocaleString("en-US")} vendors of at most ${MAX_VENDOR_BYTES / 1_000} kB each in at most ${MAX_JOB_BYTES / 1_000_000} MB.`;
    expect(page).toContain(ofJobs);
    expect(catalogue.payload_too_large.text).toContain(` ${MAX_BODY_BYTES / 1_000} kB`);
  });

  test("shows how to install the packages, which are in no registry", () => {
    const document = openApiDocument("1.0.0", "https://api.example.com") as unknown as Document;
    const local = referencePage(document, "http://127.0.0.1:8080");
    const elsewhere = referencePage(document, "https://api.example.com");
    for (const page of [local, elsewhere]) {
      expect(page).toContain("npm install ./vendor-verification-client-*.tgz");
      expect(page).not.toMatch(/npm install [^<]*@vendor-verification/);
    }
    expect(local).toContain("alias vendor-verification=");
    expect(elsewhere).toContain("npm install --global ./vendor-verification-c*.tgz");
  });

  test("has links only to places that exist, and every id once", async () => {
    const page = await (await get("/docs")).text();
    expect(page).not.toContain("](#");
    const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
    const targets = [...page.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
    expect(targets.filter((id) => !ids.includes(id))).toEqual([]);
    const headings = [...page.matchAll(/<h([1-4])/g)].map(([, level]) => Number(level));
    for (const [at, level] of headings.entries()) expect(level - (headings[at - 1] ?? 0)).toBeLessThanOrEqual(1);
  });
});
