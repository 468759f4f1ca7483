import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Scope } from "@vvs/api-keys";
import type { z } from "@vvs/config";
import type { ErrorCode, Violation } from "@vvs/errors";
import type { IdPrefix } from "@vvs/ids";
import type { CallerSchema } from "@vvs/proto/common/v1/common";
import type { EntityService } from "@vvs/proto/entity/v1/entity";
import type { MonitorService } from "@vvs/proto/monitor/v1/monitor";
import type { VerificationService } from "@vvs/proto/verification/v1/verification";
import type { Client } from "@vvs/rpc";
import type { Environment } from "@vvs/tenant";
import type { Idempotency } from "../input/idempotency.ts";
import type { ListIdentity, Page } from "../input/page.ts";

/** What answers are made with. */
export interface RouteContext {
  readonly entity: Client<typeof EntityService>;
  readonly verification: Client<typeof VerificationService>;
  readonly monitor: Client<typeof MonitorService>;
  /** What evidence is found under, without a slash at its end. */
  readonly publicBaseUrl: string;
}

/** What a rule may depend on besides the body. */
export interface RuleContext {
  readonly environment: Environment;
  readonly allowPrivateTargets: boolean;
}

/** A call that was let in: who calls, and what the call says. */
export interface Call<Q, B> {
  readonly caller: MessageInitShape<typeof CallerSchema> & { tenant: { environment: number } };
  /** Active monitors that the caller's plan allows. */
  readonly activeMonitors: number;
  /** The id in the path; empty where the path has none. */
  readonly id: string;
  readonly query: Q;
  readonly body: B;
  /** Of a list. */
  readonly page: Page;
  /** Of a list: what its cursors belong to. */
  readonly list: ListIdentity;
  readonly idempotency: Idempotency | undefined;
}

export interface Reply {
  readonly status?: 200 | 201;
  readonly body: object;
  /** Path of what was created. */
  readonly location?: string;
  /** The answer repeats an earlier one under the same Idempotency-Key. */
  readonly replayed?: boolean;
}

/** One line of the interface. The scope is required: a route that says nothing of who may call it does not compile. */
export interface RouteDefinition<Q, B> {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** As Express writes it, with :id for an id. */
  readonly path: `/v1/${string}`;
  readonly scope: Scope;
  /** What kind of id the path holds, and the refusal where there is no such thing. */
  readonly id?: { readonly prefix: IdPrefix; readonly missing: ErrorCode };
  /** The route lists things: it takes `limit` and `cursor` too. */
  readonly list?: true;
  /** Query parameters; none where absent. */
  readonly query?: z.ZodType<Q>;
  /** The body; none is read where absent. */
  readonly body?: z.ZodType<B>;
  /** What a schema can't say, judged on the body as sent, so that it is named beside all other problems. */
  rules?(body: Readonly<Record<string, unknown>>, context: RuleContext): Violation[];
  /** The route takes an Idempotency-Key. */
  readonly idempotent?: true;
  handle(call: Call<Q, B>, context: RouteContext): Promise<Reply>;
}

export type Route = RouteDefinition<unknown, unknown>;

/** Checks a line of the interface against its own schemas. */
export function route<Q = unknown, B = unknown>(definition: RouteDefinition<Q, B>): Route {
  return definition;
}
