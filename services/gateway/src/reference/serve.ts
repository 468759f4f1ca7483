import { readFileSync } from "node:fs";
import { type Prepared, prepare } from "../http/prepared.ts";
import type { Document } from "./document.ts";
import { referencePage } from "./page.ts";

const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Returns the reference page and its files by path. They are made once. */
export function reference(document: object, baseUrl: string): ReadonlyMap<string, Prepared> {
  const asset = (name: string, type: string) =>
    prepare(readFileSync(new URL(`static/${name}`, import.meta.url), "utf8"), `${type}; charset=utf-8`);
  const page = prepare(referencePage(document as Document, baseUrl), "text/html; charset=utf-8", {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "no-referrer",
  });
  return new Map([
    ["/docs", page],
    ["/docs/style.css", asset("style.css", "text/css")],
    ["/docs/copy.js", asset("copy.js", "text/javascript")],
  ]);
}
