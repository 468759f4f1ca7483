import { type AnswerComponents, answersOf, headerComponents, jsonContent } from "./answers.ts";
import type { Components } from "./json-schema.ts";
import { type Operation, operations } from "./operations.ts";
import { parametersOf, sharedParameters } from "./parameters.ts";
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
  { name: "Monitor", description: "Repeat checks on a schedule, and read what changed." },
  { name: "Receive webhooks", description: "What we post to you." },
  { name: "Service", description: "Needs no API key." },
];

/** Returns the OpenAPI 3.1 document of the whole interface. */
export function openApiDocument(version: string): Readonly<Record<string, unknown>> {
  const components = { schemas: {} as Components, responses: {} as Components };
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of operations) {
    const path = operation.path.replace(":id", "{id}");
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: describeOperation(operation, components) };
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
    servers: [{ url: "/", description: "The host that this document comes from." }],
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

function describeOperation(operation: Operation, components: AnswerComponents): object {
  const { docs, scope, body } = operation;
  const parameters = parametersOf(operation, components.schemas);
  const content = body && jsonContent(docs.body ?? body, docs.requests ?? {}, components.schemas);
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

function sorted(components: Components): Components {
  return Object.fromEntries(Object.entries(components).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
