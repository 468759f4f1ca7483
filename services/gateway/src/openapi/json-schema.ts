import { z } from "@vvs/config";

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Collects named schemas while schemas are written. */
export type Components = Record<string, JsonSchema>;

/** Returns the JSON Schema of what a schema accepts. Schemas with an `id` are added to the components and referred to. */
export function jsonSchema(schema: z.ZodType, components: Components): JsonSchema {
  const { $schema, $defs = {}, ...rest } = z.toJSONSchema(schema, { io: "input", override: withoutSafeLimits });
  for (const [name, definition] of Object.entries($defs)) components[name] = withComponents(definition);
  return withComponents(rest);
}

/** An integer without a limit is not limited to what JavaScript can represent. */
function withoutSafeLimits({ jsonSchema: json }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum;
}

function withComponents(json: object): JsonSchema {
  return JSON.parse(JSON.stringify(json).replaceAll('"#/$defs/', '"#/components/schemas/'));
}
