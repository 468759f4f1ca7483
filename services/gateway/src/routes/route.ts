import type { IncomingMessage } from "node:http";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Scope } from "@vvs/api-keys";
import type { z } from "@vvs/config";
import type { WebhookUrlRule } from "@vvs/egress/webhook-url";
import type { ErrorCode, Violation } from "@vvs/errors";
import type { IdPrefix } from "@vvs/ids";
import type { CallerSchema } from "@vvs/proto/common/v1/common";
import type { EntityService } from "@vvs/proto/entity/v1/entity";
import type { MonitorService } from "@vvs/proto/monitor/v1/monitor";
import type { JobService } from "@vvs/proto/verification/v1/jobs";
import type { VerificationService } from "@vvs/proto/verification/v1/verification";
import type { Client } from "@vvs/rpc";
import type { JsonBody } from "../http/body.ts";
import type { Exchange } from "../http/exchange.ts";
import type { Idempotency } from "../input/idempotency.ts";
import type { Forward, ListIdentity, Page } from "../input/page.ts";
import type { JobRow } from "./job-rows.ts";

/** The clients and settings that handlers use. */
export interface RouteContext {
  readonly entity: Client<typeof EntityService>;
  readonly verification: Client<typeof VerificationService>;
  readonly monitor: Client<typeof MonitorService>;
  readonly jobs: Client<typeof JobService>;
  /** Base URL of links to evidence, without a trailing slash. */
  readonly publicBaseUrl: string;
}

/** An authenticated and validated call. */
export interface Call<Q, B> extends Pick<Exchange, "hungUp" | "stopping"> {
  readonly caller: MessageInitShape<typeof CallerSchema> & { tenant: { environment: number } };
  /** Maximum number of active monitors in the caller's plan. */
  readonly activeMonitors: number;
  /** Maximum number of rows of jobs without their last answer in the caller's plan. */
  readonly openJobRows: number;
  readonly isLive: boolean;
  /** The id in the path; empty where the path has none. */
  readonly id: string;
  readonly query: Q;
  readonly body: B;
  /** Of a list. */
  readonly page: Page;
  /** Of a list: identity that its cursors are bound to. */
  readonly list: ListIdentity;
  readonly idempotency: Idempotency | undefined;
  /** Of a job: its vendors. */
  readonly rows: readonly JobRow[];
  /** Of a list that is read forward; undefined where it is read newest first. */
  readonly forward: Forward | undefined;
}

export interface Reply<A> {
  readonly status?: 200 | 201 | 202;
  /** A text is sent as it is, all else as JSON. */
  readonly body: A;
  /** Path of the created object. */
  readonly location?: string;
  /** The answer repeats an earlier one under the same Idempotency-Key. */
  readonly replayed?: boolean;
  /** How long the call waited at the client's request, in milliseconds. Excluded from durations. */
  readonly waitedMs?: number;
}

/** All of a list, as a text. */
export interface TextReply {
  readonly parts: AsyncIterable<string>;
  readonly headers: Readonly<Record<string, string>>;
}

/** An answer of a route that is not an error. */
interface DocumentedAnswer<A> {
  readonly description: string;
  /** Absent for an answer without a body. */
  readonly body?: z.ZodType<A>;
  /** Of a body that is a text; JSON where absent. */
  readonly mediaType?: "application/jwt";
  /** Examples of the body, by a name for people. */
  readonly examples?: Readonly<Record<string, object | string>>;
}

/** What the OpenAPI document and the reference page say about a route, besides what follows from its definition. */
export interface RouteDocs<A = object | string> {
  readonly operationId: string;
  readonly tag: "Look up" | "Create" | "Verify" | "Verify many" | "Monitor" | "Service";
  /** A few words; the heading on the reference page. */
  readonly summary: string;
  /** Markdown. */
  readonly description: string;
  /** The body as documented, where it says more than the schema that validates it. */
  readonly body?: z.ZodType;
  /** Examples of the request body, by a name for people. The first is used in snippets. */
  readonly requests?: Readonly<Record<string, object>>;
  /** Answers by status, without errors. */
  readonly answers: Readonly<Record<number, DocumentedAnswer<A>>>;
  /** Codes that the service can answer, besides those that every route of this form can. */
  readonly errors?: readonly ErrorCode[];
}

/** Returns documentation with the type of its answers, so that the handler of its route must return just that. */
export function documented<A>(docs: RouteDocs<A>): RouteDocs<A> {
  return docs;
}

/** Returns the answer of a route that only answers 200. */
export function ok<A>(
  description: string,
  body: z.ZodType<A>,
  examples: Readonly<Record<string, object>>,
): RouteDocs<A>["answers"] {
  return { 200: { description, body, examples } };
}

/** One route of the interface. The scope is required, so a route without one does not compile. */
export interface RouteDefinition<Q, B, A> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path in Express syntax, with :id for an id. */
  readonly path: `/v1/${string}`;
  readonly scope: Scope;
  readonly docs: RouteDocs<A>;
  /** Prefix of the id in the path, and the error code if no such object exists. */
  readonly id?: { readonly prefix: IdPrefix; readonly missing: ErrorCode };
  /** The route lists things: it takes `limit` and `cursor` too. */
  readonly list?: true;
  /** The list can be read forward too: it takes `after` and `wait`. */
  readonly forward?: true;
  /** Query parameters; none where absent. */
  readonly query?: z.ZodType<Q>;
  /** The body; none is read where absent. */
  readonly body?: z.ZodType<B>;
  /** Checks that a schema cannot express. They see the body as sent, so that their problems are listed with all others. */
  rules?(body: Readonly<Record<string, unknown>>, context: WebhookUrlRule): Violation[];
  /** Scopes that a call needs besides, by its body. */
  alsoNeeds?(body: B): readonly Scope[];
  /** Reads the body; as JSON of at most 100 kB where absent. */
  readonly readBody?: (request: IncomingMessage) => Promise<JsonBody>;
  /** Reads what takes too long to be read at once. Errors: invalid_request. */
  readRows?(call: Call<Q, B>): Promise<JobRow[]>;
  /** Media types that a client may accept before JSON: then the answer is all of the list, as a text without pages. */
  readonly textTypes?: readonly string[];
  /** Returns that text in parts, and further headers of the answer. */
  readText?(call: Call<Q, B>, context: RouteContext, mediaType: string): Promise<TextReply>;
  /** A call may wait for a provider. */
  readonly isLong?: true;
  /**
   * Maximum number of an organization's requests that have begun. Where absent: 16, of a list without a text form 4, and without
   * a bound where a call may wait.
   */
  readonly maxBegun?: number;
  /** The route takes an Idempotency-Key. */
  readonly idempotent?: true;
  handle(call: Call<Q, B>, context: RouteContext): Promise<Reply<NoInfer<A>>>;
}

export type Route = RouteDefinition<unknown, unknown, object | string>;

/** Checks the types of a route definition. */
export function route<A extends object | string, Q = unknown, B = unknown>(
  definition: RouteDefinition<Q, B, A>,
): Route {
  return definition;
}
