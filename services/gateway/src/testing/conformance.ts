import { isDeepStrictEqual } from "node:util";
import type { z } from "@vvs/config";
import { errorSchema } from "../http/errors.ts";
import { headers as documentedHeaders, operations, outcomesOf } from "../openapi/operations.ts";

/** An answer that a test received. */
interface Received {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined where it has none. */
  readonly body: unknown;
}

const documented = operations.map((operation) => ({
  ...operation,
  pattern: new RegExp(`^${operation.path.replaceAll(".", "\\.").replace(":id", "[^/]+")}$`),
  outcomes: outcomesOf(operation),
}));

/** Headers of every answer, which the document leaves out. */
const UNDOCUMENTED = new Set([
  "cache-control",
  "connection",
  "content-encoding",
  "content-length",
  "content-security-policy",
  "content-type",
  "date",
  "keep-alive",
  "transfer-encoding",
  "vary",
  "x-content-type-options",
]);

/**
 * Throws if an answer is not as documented: an unknown status, error code, field or header, or a missing one. `path` may
 * have a query.
 */
export function expectDocumented(method: string, path: string, answer: Received): void {
  const deviations = deviationsOf(method, path.split("?")[0]!, answer);
  if (deviations.length === 0) return;
  const body = JSON.stringify(answer.body)?.slice(0, 1_000);
  throw new Error(`${method} ${path} answered ${answer.status} as not documented: ${deviations.join("; ")}\n${body}`);
}

function deviationsOf(method: string, path: string, { status, headers, body }: Received): string[] {
  const atPath = documented.filter(({ pattern }) => pattern.test(path));
  const operation = atPath.find((one) => one.method === (method === "HEAD" ? "GET" : method));
  if (!operation) {
    const expected = status === 400 || status === (atPath.length > 0 ? 405 : 404);
    return [...(expected ? [] : ["no operation has this path and method"]), ...bodyProblems(errorSchema, body, method)];
  }
  const outcome = operation.outcomes.get(status);
  if (!outcome) return ["the status is not documented"];
  const names = [...headers.keys()];
  const known = new Set([...outcome.required, ...outcome.optional].map((name) => name.toLowerCase()));
  const schema = operation.docs.answers[status] ? operation.docs.answers[status].body : errorSchema;
  const code = outcome.codes.length > 0 && body !== undefined ? (body as { error: string }).error : undefined;
  return [
    ...outcome.required.filter((name) => !headers.has(name)).map((name) => `the header ${name} is missing`),
    ...names
      .filter((name) => !UNDOCUMENTED.has(name) && !known.has(name))
      .map((name) => `the header ${name} is not documented${isHeader(name) ? " for this status" : ""}`),
    ...(code !== undefined && !(outcome.codes as readonly string[]).includes(code) ? [`the code ${code}`] : []),
    ...bodyProblems(schema, body, method),
  ];
}

function bodyProblems(schema: z.ZodType | undefined, body: unknown, method: string): string[] {
  if (method === "HEAD") return body === undefined ? [] : ["HEAD has a body"];
  if (!schema) return body === undefined ? [] : ["there is a body"];
  const parsed = schema.safeParse(body);
  if (!parsed.success) return parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
  // Parsing leaves out what the schema does not know.
  return isDeepStrictEqual(parsed.data, body) ? [] : ["a field is not documented"];
}

function isHeader(name: string): boolean {
  return Object.keys(documentedHeaders).some((one) => one.toLowerCase() === name);
}
