import { z } from "@vvs/config";
import { catalogue, type ErrorCode } from "@vvs/errors";
import { exampleReceiptKeys } from "../routes/examples.ts";
import { documented, type Route, type RouteDocs } from "../routes/route.ts";
import { routes } from "../routes/table.ts";

/** A documented operation: a route, or a path that needs no API key and therefore has no scope. */
export type Operation = Pick<Route, "method" | "docs"> &
  Partial<Omit<Route, "handle" | "path">> & { readonly path: string };

/** Where the public keys of receipts are, by convention for JSON Web Key Sets. */
export const RECEIPT_KEYS_PATH = "/.well-known/jwks.json";

/** What an operation can answer with one status. */
export interface Outcome {
  /** Codes of errors; none for an answer that is not an error. */
  readonly codes: readonly ErrorCode[];
  readonly required: readonly HeaderName[];
  readonly optional: readonly HeaderName[];
}

const limits = [
  "RateLimit-Policy",
  "RateLimit",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
] as const;

const whole = (description: string, minimum = 0) => ({ description, schema: { type: "integer", minimum } });
const text = (description: string, more: object = {}) => ({ description, schema: { type: "string", ...more } });

/** Every header of an answer, as the document describes it. */
export const headers = {
  "X-Request-Id": text(
    "Id of the request: the one that you sent as `X-Request-Id` if it has 1 to 128 printable ASCII characters, otherwise a new one.",
  ),
  "RateLimit-Policy": text("The limit of the key: `q` requests in any `w` seconds.", {
    examples: ['"default";q=100;w=60'],
  }),
  RateLimit: text("What is left: `r` requests now; in `t` seconds there are more.", {
    examples: ['"default";r=99;t=1'],
  }),
  "X-RateLimit-Limit": whole("Requests per minute of the key."),
  "X-RateLimit-Remaining": whole("Requests left now."),
  "X-RateLimit-Reset": whole("Seconds until there is quota again."),
  "Retry-After": whole("Seconds to wait before the call is repeated.", 1),
  "WWW-Authenticate": text("`Bearer`."),
  Location: text("Path of the created object.", { examples: ["/v1/entities/ent_01m7yps8kqf59an8zca6rhtk3v"] }),
  "Idempotency-Replayed": text("`true` where an earlier answer to the same `Idempotency-Key` is repeated.", {
    const: "true",
  }),
  "X-Job-Status": text(
    "Of results as a text: the `status` of the job when the answer began. Unless it is `completed`, rows may be missing.",
    { examples: ["completed"] },
  ),
  Allow: text("The methods of the path.", { examples: ["GET, HEAD"] }),
  ETag: text("Version of the document."),
};

export type HeaderName = keyof typeof headers;

const health: RouteDocs = {
  operationId: "getHealth",
  tag: "Service",
  summary: "Health",
  description: "Returns whether calls can be served now. Needs no API key and is not rate limited.",
  answers: Object.fromEntries(
    (["ok", "unavailable"] as const).map((status) => [
      status === "ok" ? 200 : 503,
      {
        description: status === "ok" ? "Calls are served." : "Calls cannot be served now.",
        body: z.object({ status: z.literal(status), version: z.string().describe("Version of the service.") }),
        examples: { Health: { status, version: "1.0.0" } },
      },
    ]),
  ),
};

const openApi: RouteDocs = {
  operationId: "getOpenApi",
  tag: "Service",
  summary: "This document",
  description:
    "Returns the OpenAPI document; `/v1/openapi.yaml` is the same in YAML. Needs no API key and is not rate limited. With `If-None-Match` an unchanged document is 304.",
  answers: {
    200: {
      description: "The document.",
      body: z.looseObject({ openapi: z.string(), info: z.looseObject({}), paths: z.looseObject({}) }),
      examples: { "Its beginning": { openapi: "3.1.1", info: {}, paths: {} } },
    },
    304: { description: "The document still has the version of `If-None-Match`." },
  },
};

const receiptKeys = documented({
  operationId: "getReceiptKeys",
  tag: "Service",
  summary: "Keys of receipts",
  description:
    "Returns the public keys that receipts are checked with, as a JSON Web Key Set (RFC 7517), those that no longer sign included. Needs no API key and is not rate limited. May be kept for five minutes.",
  answers: {
    200: {
      description: "The keys; none where the operator has configured none.",
      body: z
        .object({
          keys: z.array(
            z.object({
              kty: z.string().describe("`OKP`."),
              crv: z.string().describe("`Ed25519`."),
              x: z.string().describe("The public key, in base64url."),
              kid: z.string().describe("Id of the key, as receipts name it."),
              use: z.string().describe("`sig`."),
              alg: z.string().describe("`EdDSA`."),
            }),
          ),
        })
        .meta({ id: "ReceiptKeys", description: "The public keys that receipts are checked with." }),
      examples: { Keys: exampleReceiptKeys },
    },
    304: { description: "The keys still have the version of `If-None-Match`." },
  },
  errors: ["internal_error", "service_unavailable"],
});

/** Documents that may be unchanged since the client read them. */
const versioned: readonly RouteDocs[] = [openApi, receiptKeys];

/** Paths that need no API key. */
const open: readonly Operation[] = [
  { method: "GET", path: RECEIPT_KEYS_PATH, docs: receiptKeys },
  { method: "GET", path: "/v1/health", docs: health },
  { method: "GET", path: "/v1/openapi.json", docs: openApi },
];

/** Every operation of the interface. */
export const operations: readonly Operation[] = [...routes, ...open];

/** Returns everything that an operation can answer, by status. */
export function outcomesOf(operation: Operation): ReadonlyMap<number, Outcome> {
  const statuses = [...Object.keys(operation.docs.answers).map(Number), ...errorStatuses(operation)];
  return new Map(
    [...new Set(statuses)]
      .toSorted((one, other) => one - other)
      .map((status) => [status, { codes: codesOf(operation, status), ...headersOf(operation, status) }]),
  );
}

function errorCodes({ scope, body, id, idempotent, docs }: Operation): ErrorCode[] {
  const always = ["invalid_request", "method_not_allowed"] as const;
  const withKey = ["unauthorized", "forbidden", "rate_limited", "internal_error", "service_unavailable"] as const;
  const withBody = ["payload_too_large", "unsupported_media_type"] as const;
  return [
    ...always,
    ...(scope ? withKey : []),
    ...(body ? withBody : []),
    ...(id ? [id.missing] : []),
    ...(idempotent ? (["idempotency_conflict", "idempotency_mismatch"] as const) : []),
    ...(docs.errors ?? []),
  ];
}

function errorStatuses(operation: Operation): number[] {
  return [...errorCodes(operation).map((code) => catalogue[code].http), 408, 431];
}

function codesOf(operation: Operation, status: number): ErrorCode[] {
  if (operation.docs.answers[status]) return [];
  if (status === 408 || status === 431) return ["invalid_request"];
  return [...new Set(errorCodes(operation).filter((code) => catalogue[code].http === status))];
}

/** A request is counted after its key is checked. Some errors of these statuses come before that. */
const SOMETIMES_COUNTED: ReadonlySet<number> = new Set([400, 429, 500, 503]);
const NEVER_COUNTED: ReadonlySet<number> = new Set([401, 405, 408, 431]);

function headersOf(
  { scope, idempotent, textTypes, docs }: Operation,
  status: number,
): Pick<Outcome, "required" | "optional"> {
  const isAnswer = docs.answers[status] !== undefined;
  const counted = scope && !NEVER_COUNTED.has(status) ? limits : [];
  const sometimes = SOMETIMES_COUNTED.has(status);
  return {
    required: [
      "X-Request-Id",
      ...(sometimes ? [] : counted),
      ...(status === 401 ? (["WWW-Authenticate"] as const) : []),
      ...(status === 429 || status === 503 ? (["Retry-After"] as const) : []),
      ...(status === 405 ? (["Allow"] as const) : []),
      ...(status === 201 || status === 202 ? (["Location"] as const) : []),
      ...(versioned.includes(docs) && isAnswer ? (["ETag"] as const) : []),
    ],
    optional: [
      ...(sometimes ? counted : []),
      ...(idempotent && isAnswer ? (["Idempotency-Replayed"] as const) : []),
      ...(textTypes && isAnswer ? (["X-Job-Status"] as const) : []),
    ],
  };
}
