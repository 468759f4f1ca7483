import { readFileSync } from "node:fs";
import { type Html, html } from "@vvs/http/html";
import {
  liveEntities,
  liveMonitors,
  openJobRows,
  type Plan,
  plans,
  requestsPerMinute,
  SANDBOX_MONITORS,
} from "@vvs/tenant/plans";
import { MAX_BODY_BYTES, MAX_JOB_BYTES, MAX_VENDOR_BYTES } from "../http/body.ts";
import { MAX_DEPTH } from "../http/json-text.ts";
import { MAX_VENDORS } from "../http/vendor-texts.ts";
import { MAX_CHECKS } from "../input/fields.ts";
import { MAX_ENTRIES } from "../input/identifiers.ts";
import { MAX_LIMIT } from "../input/page.ts";
import type { Document } from "./document.ts";
import { markdown, table } from "./markdown.ts";
import { errors, reasonTables } from "./refusals.ts";

/** A part of the page that is not about one operation. */
type Part = { readonly id: string; readonly title: string; readonly content: Html };

/** Returns what comes before the operations. `baseUrl` is the address of the service for clients. */
export function introduction(baseUrl: string): readonly Part[] {
  const isLocal = ["127.0.0.1", "localhost"].includes(new URL(baseUrl).hostname);
  // Users of a local run have the packages as source.
  const values = { ...limits, base_url: baseUrl, install: textOf(isLocal ? "install-local" : "install") };
  const guides = ["start", "command-line", "sandbox", "identifiers", "limits", "retries", "many-vendors"];
  return [...guides, "go-live", "keep-events"].map((id) => guide(id, values));
}

/** Returns what comes after the operations. */
export function appendix(document: Document): readonly Part[] {
  return [
    guide("receipts"),
    { id: "headers", title: "Headers", content: headers(document) },
    { id: "errors", title: "Errors", content: errors },
    { id: "reasons", title: "Reasons of results", content: reasonTables },
    guide("changes"),
  ];
}

/** How a subscriber handles webhooks. */
export const webhookGuide = markdown(textOf("webhooks"));

/** Returns a guide. The first line of its file is the title; values are in the places of `{{name}}`. */
function guide(id: string, values: Readonly<Record<string, string>> = {}): Part {
  const [title = "", ...lines] = textOf(id).split("\n");
  const text = lines.join("\n").replaceAll(/\{\{(\w+)\}\}/g, (_place, name: string) => values[name]!);
  return { id, title: title.slice("# ".length), content: html`${markdown(text)}` };
}

function textOf(id: string): string {
  return readFileSync(new URL(`guides/${id}.md`, import.meta.url), "utf8").trimEnd();
}

const count = (number: number) => number.toLocaleString("en-US");

function limitRow(name: string, limitOf: (plan: Plan) => number | undefined): string[] {
  return [name, ...plans.map(limitOf).map((limit) => (limit === undefined ? "agreed" : count(limit)))];
}

const planLimits = [
  ["Limit", ...plans.map((plan) => `${plan[0]!.toUpperCase()}${plan.slice(1)}`)],
  ["---", ...plans.map(() => "---")],
  limitRow("Requests per minute and key", (plan) => (plan === "enterprise" ? undefined : requestsPerMinute[plan])),
  limitRow("Active monitors, live", (plan) => liveMonitors[plan]),
  limitRow("Created entities, live", (plan) => liveEntities[plan]),
  limitRow("Active monitors, sandbox", () => SANDBOX_MONITORS),
  limitRow("Rows of jobs without their last answer", (plan) => openJobRows[plan]),
];

/** The limits that guides name. */
const limits = {
  plan_limits: planLimits.map((cells) => `| ${cells.join(" | ")} |`).join("\n"),
  starter_rows: count(openJobRows.starter),
  growth_rows: count(openJobRows.growth),
  body_kb: count(MAX_BODY_BYTES / 1_000),
  page_items: count(MAX_LIMIT),
  checks: count(MAX_CHECKS),
  entries: count(MAX_ENTRIES),
  vendors: count(MAX_VENDORS),
  vendor_kb: count(MAX_VENDOR_BYTES / 1_000),
  job_mb: count(MAX_JOB_BYTES / 1_000_000),
  levels: count(MAX_DEPTH),
};

function headers({ components }: Document): Html {
  return table(
    ["Header of an answer", "Meaning"],
    Object.entries(components.headers).map(([name, { description }]) => [`\`${name}\``, description]),
  );
}
