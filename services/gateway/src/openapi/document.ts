import type { z } from "@vvs/config";
import { stringify } from "yaml";
import { DEFAULT_LIMIT, MAX_LIMIT, MAX_WAIT_SECONDS, NOW, START } from "../input/page.ts";
import { idPattern } from "../render/schemas.ts";
import { type AnswerComponents, answersOf, contentOf, headerComponents } from "./answers.ts";
import { forClients, type OpenApi } from "./for-clients.ts";
import { type Components, jsonSchema } from "./json-schema.ts";
import { type Operation, operations } from "./operations.ts";
import { webhooks } from "./webhook.ts";

const description = `Resolves US business entities, verifies them, monitors them, and reports changes by signed webhooks.

- **Authentication**: \`Authorization: Bearer <key>\`. A test key (\`svc_test_…\`) sees the sandbox, a live key (\`svc_live_…\`) live data; neither ever sees the other’s.
- **Bodies** are JSON and strict: unknown fields are refused, and \`details\` lists every problem at once.
- **Lists** are newest first. \`next_cursor\` is null on the last page.
- **Changes**: fields, values, headers and operations may be added at any time. Ignore those that you do not know.`;

const tags = [
  { name: "Look up", description: "Find entities, and read what is known of them." },
  { name: "Create", description: "Add vendors that no registry has." },
  { name: "Verify", description: "Check vendors, and read results and evidence." },
  { name: "Verify many", description: "Check lists of vendors in the background." },
  { name: "Monitor", description: "Repeat checks on a schedule, and read what changed." },
  { name: "Receive webhooks", description: "What we post to you." },
  { name: "Service", description: "Needs no API key." },
];

const query = (name: string, description: string, schema: object) => ({ name, in: "query", description, schema });

/** Parameters that several operations share. */
const sharedParameters = {
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

/**
 * Returns the OpenAPI 3.1 document that clients are made of, as it is served and committed. `baseUrl` is the address of the
 * service for clients.
 */
export function openApiDocument(version: string, baseUrl: string): OpenApi {
  // A body that is read by the route itself has no schema that says all.
  return forClients(documentOf(version, baseUrl, ({ docs, body, readBody }) => (readBody ? docs.body : body)));
}

/** Returns the document with every rule that the server checks, by which tests make valid and invalid requests. */
export function exactDocument(version: string, baseUrl: string): OpenApi {
  return documentOf(version, baseUrl, ({ docs, body }) => docs.body ?? body);
}

function documentOf(version: string, baseUrl: string, bodyOf: BodyOf): OpenApi {
  const components = { schemas: {} as Components, responses: {} as Components };
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of operations) {
    const path = operation.path.replace(":id", "{id}");
    paths[path] = {
      ...paths[path],
      [operation.method.toLowerCase()]: describeOperation(operation, components, bodyOf(operation)),
    };
  }
  const document = {
    openapi: "3.1.1",
    info: {
      title: "Vendor Verification API",
      version,
      summary: "Look up, verify and monitor US vendors.",
      description,
      license: { name: "Proprietary", identifier: "LicenseRef-Proprietary" },
    },
    servers: [{ url: baseUrl, description: "Where this document comes from." }],
    tags,
    security: [{ apiKey: [] }],
    paths,
    webhooks: webhooks(components.schemas),
    components: {
      securitySchemes: {
        apiKey: {
          type: "http",
          scheme: "bearer",
          bearerFormat: "svc_live_… or svc_test_…",
          description: "An API key, created in the dashboard. Each operation requires one of the key’s scopes.",
        },
      },
      parameters: sharedParameters,
      headers: headerComponents(),
      responses: sorted(components.responses),
      schemas: sorted(components.schemas),
    },
  };
  return JSON.parse(JSON.stringify(document));
}

/** Returns the document's text as it is served and committed. */
export function openApiText(document: object): string {
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

/** Returns the document as YAML that parsers of YAML 1.1 and 1.2 read alike. */
export function openApiYaml(document: object): string {
  return stringify(document, { version: "1.1", aliasDuplicateObjects: false, lineWidth: 0 });
}

/** Returns the schema by which a body is described. */
type BodyOf = (operation: Operation) => z.ZodType | undefined;

function describeOperation(operation: Operation, components: AnswerComponents, body: z.ZodType | undefined): object {
  const { docs, scope } = operation;
  const parameters = parametersOf(operation, components.schemas);
  const content = body && contentOf(body, docs.requests ?? {}, components.schemas);
  return {
    operationId: docs.operationId,
    tags: [docs.tag],
    summary: docs.summary,
    description: scope ? `${docs.description}\n\nRequires the scope \`${scope}\`.` : docs.description,
    security: scope ? [{ apiKey: [scope] }] : [],
    ...(parameters.length > 0 && { parameters }),
    ...(content && { requestBody: { required: true, content } }),
    responses: answersOf(operation, components),
  };
}

type SharedName = keyof typeof sharedParameters;

/** Returns the parameters of an operation: the id in the path, the query and the headers. */
function parametersOf(operation: Operation, schemas: Components): object[] {
  const shared: SharedName[] = [
    ...(operation.list ? (["limit", "cursor"] as const) : []),
    ...(operation.forward ? (["after", "wait"] as const) : []),
    ...(operation.idempotent ? (["idempotencyKey"] as const) : []),
  ];
  return [
    ...(operation.id ? [pathId(operation.id.prefix)] : []),
    ...ownParameters(operation, schemas),
    ...shared.map((name) => ({ $ref: `#/components/parameters/${name}` })),
  ];
}

function pathId(prefix: Parameters<typeof idPattern>[0]) {
  const schema = { type: "string", pattern: idPattern(prefix) };
  return { name: "id", in: "path", required: true, description: `An id, \`${prefix}_…\`.`, schema };
}

function ownParameters({ query: schema }: Operation, schemas: Components): object[] {
  if (!schema) return [];
  const { properties = {}, required = [] } = jsonSchema(schema, schemas) as {
    properties?: Record<string, { description?: string }>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    ...query(name, description ?? "", rest),
    ...(required.includes(name) && { required: true }),
  }));
}

function sorted(components: Components): Components {
  return Object.fromEntries(Object.entries(components).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
