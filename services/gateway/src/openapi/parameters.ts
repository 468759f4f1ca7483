import { DEFAULT_LIMIT, MAX_LIMIT, MAX_WAIT_SECONDS, NOW, START } from "../input/page.ts";
import { idPattern } from "../render/values-schema.ts";
import { type Components, jsonSchema } from "./json-schema.ts";
import type { Operation } from "./operations.ts";

const query = (name: string, description: string, schema: object) => ({ name, in: "query", description, schema });

/** Parameters that several operations share. */
export const sharedParameters = {
  limit: query("limit", "Maximum number of items in the page.", {
    type: "integer",
    minimum: 1,
    maximum: MAX_LIMIT,
    default: DEFAULT_LIMIT,
  }),
  cursor: query(
    "cursor",
    "`next_cursor` of an earlier answer of this list with the same filter. It works for no other list, filter or environment.",
    { type: "string", pattern: "^[A-Za-z0-9_-]+$" },
  ),
  after: query(
    "after",
    `Reads forward: \`${START}\` begins with the oldest event, \`${NOW}\` after the newest one, and the \`next_cursor\` of an earlier answer continues after it. Not together with \`cursor\`.`,
    { type: "string", pattern: "^[A-Za-z0-9_-]+$" },
  ),
  wait: query("wait", "Seconds to wait for an event. Only together with `after`.", {
    type: "integer",
    minimum: 0,
    maximum: MAX_WAIT_SECONDS,
    default: 0,
  }),
  idempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    description:
      "Makes a retry safe. For 24 h the same key with the same body on the same path returns the first successful answer again, with `Idempotency-Replayed: true`. With another body it is 422 `idempotency_mismatch`; while the first call is running, 409 `idempotency_conflict`.",
    schema: { type: "string", maxLength: 255, pattern: "^[!-~](?:[ -~]*[!-~])?$" },
  },
};

type SharedName = keyof typeof sharedParameters;

/** Returns the parameters of an operation: the id in the path, the query and the headers. */
export function parametersOf(operation: Operation, components: Components): object[] {
  const shared: SharedName[] = [
    ...(operation.list ? (["limit", "cursor"] as const) : []),
    ...(operation.forward ? (["after", "wait"] as const) : []),
    ...(operation.idempotent ? (["idempotencyKey"] as const) : []),
  ];
  return [
    ...(operation.id ? [pathId(operation.id.prefix)] : []),
    ...ownParameters(operation, components),
    ...shared.map((name) => ({ $ref: `#/components/parameters/${name}` })),
  ];
}

function pathId(prefix: Parameters<typeof idPattern>[0]) {
  const schema = { type: "string", pattern: idPattern(prefix) };
  return { name: "id", in: "path", required: true, description: `An id, \`${prefix}_…\`.`, schema };
}

function ownParameters({ query: schema }: Operation, components: Components): object[] {
  if (!schema) return [];
  const { properties = {}, required = [] } = jsonSchema(schema, components) as {
    properties?: Record<string, { description?: string }>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    ...query(name, description ?? "", rest),
    ...(required.includes(name) && { required: true }),
  }));
}
