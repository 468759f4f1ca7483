import { readFileSync } from "node:fs";
import { join } from "node:path";

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

/** Returns the OpenAPI document with its schemas only, for the generators of the types of our clients. */
export function schemasOnly() {
  const source = readFileSync(join(import.meta.dirname, "../../docs/openapi.json"), "utf8");
  const { components, ...document } = JSON.parse(source, forTypes) as Document;
  return { ...document, paths: {}, webhooks: {}, components: { schemas: { ...components.schemas, IdentifierValues } } };
}

/** Adds the short form of identifiers, and removes what types say by themselves: objects of our clients are always open. */
function forTypes(_name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || !("type" in value)) return value;
  const { additionalProperties: _open, ...schema } = value as Record<string, unknown>;
  if ((schema.items as { $ref?: string } | undefined)?.$ref !== "#/components/schemas/Identifier") return schema;
  const { description, ...list } = schema;
  return { description, anyOf: [list, { $ref: "#/components/schemas/IdentifierValues" }] };
}
