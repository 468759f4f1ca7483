import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@hey-api/openapi-ts";

interface Document {
  readonly components: { readonly schemas: object };
}

/** Writes the types of the OpenAPI document's schemas into the folder in the argument, or into src/generated. */
const folder = process.argv[2] ?? join(import.meta.dirname, "src/generated");
const text = readFileSync(join(import.meta.dirname, "../../docs/openapi.json"), "utf8");
const { components, ...document } = JSON.parse(text, withoutRules) as Document;
await createClient({
  input: { ...document, paths: {}, webhooks: {}, components: { schemas: components.schemas } },
  output: { path: folder, entryFile: false },
  plugins: ["@hey-api/typescript"],
  logs: { level: "silent" },
});

/** Removes rules that types can't express, such as "at least one of these", which the generator would read as `unknown`. */
function withoutRules(_name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || !("type" in value)) return value;
  const { allOf: _all, anyOf: _any, contains: _contains, ...rest } = value as Record<string, unknown>;
  return rest;
}
