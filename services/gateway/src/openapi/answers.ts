import type { z } from "@vvs/config";
import { catalogue, type ErrorCode } from "@vvs/errors";
import { errorDocUrl, errorSchema } from "../http/errors.ts";
import { type Components, jsonSchema } from "./json-schema.ts";
import { type HeaderName, headers, type Operation, type Outcome, outcomesOf } from "./operations.ts";

/** Components that answers add to while they are written. */
export interface AnswerComponents {
  readonly schemas: Components;
  readonly responses: Components;
}

/** Returns the answers of an operation by status. Errors are shared by all operations that have the same. */
export function answersOf(operation: Operation, components: AnswerComponents): object {
  return Object.fromEntries(
    [...outcomesOf(operation)].map(([status, outcome]) => [
      status,
      operation.docs.answers[status]
        ? describeAnswer(operation, status, outcome, components.schemas)
        : sharedError(status, outcome, components, operation.scope === undefined),
    ]),
  );
}

/** Returns the content of a body with examples, by its media type. */
export function contentOf(
  schema: z.ZodType,
  examples: Readonly<Record<string, object | string>>,
  schemas: Components,
  mediaType = "application/json",
): object {
  const named = Object.entries(examples).map(([summary, value]) => [nameOf(summary), { summary, value }]);
  return { [mediaType]: { schema: jsonSchema(schema, schemas), examples: Object.fromEntries(named) } };
}

function describeAnswer({ docs }: Operation, status: number, outcome: Outcome, schemas: Components): object {
  const { description, body, mediaType, examples = {} } = docs.answers[status]!;
  return {
    description,
    headers: describeHeaders(outcome),
    ...(body && { content: contentOf(body, examples, schemas, mediaType) }),
  };
}

const SPECIAL: Readonly<Record<number, { name: string; text: string }>> = {
  408: { name: "request_timeout", text: "The request did not arrive in time." },
  431: { name: "headers_too_large", text: "The headers are larger than 16 kB." },
};

function sharedError(
  status: number,
  outcome: Outcome,
  { schemas, responses }: AnswerComponents,
  isOpen: boolean,
): object {
  const { codes } = outcome;
  const name = `${SPECIAL[status]?.name ?? codes.toSorted().join("_or_")}${isOpen ? "_without_key" : ""}`;
  responses[name] ??= {
    description: codes.map((code) => `- \`${code}\`: ${SPECIAL[status]?.text ?? catalogue[code].text}`).join("\n"),
    headers: describeHeaders(outcome),
    content: errorContent(codes, schemas),
  };
  return { $ref: `#/components/responses/${name}` };
}

function describeHeaders({ required, optional }: Outcome): object {
  const refer = (name: HeaderName) => [name, { $ref: `#/components/headers/${name}` }];
  const inline = (name: HeaderName) => (neverRequired.has(name) ? refer(name) : [name, headers[name]]);
  return Object.fromEntries([...required.map(refer), ...optional.map(inline)]);
}

const neverRequired: ReadonlySet<string> = new Set<HeaderName>(["Idempotency-Replayed", "X-Job-Status"]);

/** Returns every header as a component, required unless it never is. */
export function headerComponents(): object {
  const component = ([name, header]: [string, object]) => [
    name,
    neverRequired.has(name) ? header : { ...header, required: true },
  ];
  return Object.fromEntries(Object.entries(headers).map(component));
}

function errorContent(codes: readonly ErrorCode[], schemas: Components): object {
  const error = jsonSchema(errorSchema, schemas);
  const schema = { allOf: [error, { type: "object", properties: { error: { enum: codes } }, required: ["error"] }] };
  const examples = Object.fromEntries(codes.map((code) => [code, { value: exampleError(code) }]));
  return { "application/json": { schema, examples } };
}

function exampleError(code: ErrorCode): object {
  return {
    error: code,
    message: catalogue[code].text,
    request_id: "req_01m7yps8kqf59an8zca6rhtk40",
    doc_url: errorDocUrl("https://api.example.com", code),
  };
}

/** Returns a key for an example: lower case, with underscores. */
function nameOf(summary: string): string {
  return summary.toLowerCase().replaceAll(/[^a-z0-9]+/g, "_");
}
