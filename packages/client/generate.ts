import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@hey-api/openapi-ts";

interface Document {
  readonly components: { readonly schemas: object };
}

const text = { type: "string" };
/** The short form of identifiers, which the document says only in words. */
const IdentifierValues = {
  type: "object",
  description: "Identifiers by type.",
  properties: { uei: text, tin: text, duns: text, cage: text },
};

/** Writes the types of the OpenAPI document's schemas into the folder in the argument, or into src/generated. */
const folder = process.argv[2] ?? join(import.meta.dirname, "src/generated");
const source = readFileSync(join(import.meta.dirname, "../../docs/openapi.json"), "utf8");
const { components, ...document } = JSON.parse(source, forTypeScript) as Document;
await createClient({
  input: { ...document, paths: {}, webhooks: {}, components: { schemas: { ...components.schemas, IdentifierValues } } },
  output: { path: folder, entryFile: false },
  plugins: ["@hey-api/typescript"],
  logs: { level: "silent" },
});

/** Adds the short form of identifiers, and removes what types say by themselves: TypeScript's objects are always open. */
function forTypeScript(_name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || !("type" in value)) return value;
  const { additionalProperties: _open, items, ...rest } = value as Record<string, unknown>;
  if (items === undefined) return rest;
  const { description, ...list } = { ...rest, items } as Record<string, unknown>;
  const isOfIdentifiers = (items as { $ref?: string }).$ref === "#/components/schemas/Identifier";
  const short = { $ref: "#/components/schemas/IdentifierValues" };
  return isOfIdentifiers ? { description, anyOf: [list, short] } : { description, ...list };
}
