import type { IncomingMessage } from "node:http";
import type { Scope } from "@vvs/api-keys";
import type { SecretKey } from "@vvs/config";
import { forCaller } from "@vvs/deadline";
import { ServiceError } from "@vvs/errors";
import { type Admit, outside } from "@vvs/fair-queue";
import { isId } from "@vvs/ids";
import type { Request } from "express";
import { type AuthenticateOptions, authenticate } from "./auth/authenticate.ts";
import type { ApiKey } from "./http/api-key.ts";
import { readJsonBody } from "./http/body.ts";
import { fromService } from "./http/errors.ts";
import { answer, answerInParts, callTarget, type Exchange } from "./http/exchange.ts";
import { type Quota, quotaHeaders, type RateLimiter } from "./limits/rate-limiter.ts";
import { readCall } from "./routes/read-call.ts";
import type { Route, RouteContext } from "./routes/route.ts";

/** Maximum wait of a request for its turn, in milliseconds. */
const MAX_WAIT_MS = 5_000;

/**
 * Maximum number of an organization's requests of one route that have begun. More would all come back from a service at once, and
 * those of others wait for them. Where a client waits for a provider or an event, any number may have begun.
 */
const MAX_BEGUN = 16;
/** The same of a list, whose answer takes a whole turn of the event loop, unless it can also be a download, which takes long. */
const MAX_LISTS_BEGUN = 4;

function maxBegunOf({ isLong, forward, list, textTypes, maxBegun }: Route): number | undefined {
  if (isLong || forward) return undefined;
  return maxBegun ?? (list && !textTypes ? MAX_LISTS_BEGUN : MAX_BEGUN);
}

export interface ServeOptions extends AuthenticateOptions {
  /** The queue in which requests wait for their turn. */
  readonly admit: Admit;
  /** Counts requests per key. */
  readonly limiter: RateLimiter;
  readonly allowPrivateTargets: boolean;
  readonly idempotencyKeys: readonly SecretKey[];
  readonly context: RouteContext;
}

/**
 * Answers one request with a known path and method. The order of refusals is part of the interface and is the order of
 * these lines: 401, 429, 413/415, 400, 403, 404, 409. Errors: ServiceError, which the caller answers with.
 */
export async function serve(route: Route, id: string, exchange: Exchange, options: ServeOptions): Promise<void> {
  const key = await authenticate(exchange.request, options);
  exchange.key = key;
  exchange.target = callTarget(route, id);
  const { organizationId, environment } = key.tenant;
  const owner = { class: "direct", organizationId, environment } as const;
  Object.assign(exchange.fields, { key_id: key.id, organization_id: organizationId, environment });
  let isAdmitted = false;
  const run = () => {
    isAdmitted = true;
    return call(route, id, key, exchange, options);
  };
  const admitted = forCaller(exchange.hungUp, () =>
    options.admit(
      { owner, kind: `${route.method} ${route.path}`, maxBegun: maxBegunOf(route), maxWaitMs: MAX_WAIT_MS },
      run,
    ),
  );
  await admitted.catch((error: unknown) => {
    // A refusal costs little: it is not counted, and neither Redis nor the body is read.
    if (!isAdmitted) showQuota(exchange, options.limiter.known(key.id, key.limitPerMinute));
    throw error;
  });
}

async function call(
  route: Route,
  id: string,
  key: ApiKey,
  exchange: Exchange,
  options: Omit<ServeOptions, "admit">,
): Promise<void> {
  await withinLimit(key, exchange, options.limiter);
  // A client that sends slowly holds no seat.
  const readBody = route.readBody ?? readJsonBody;
  const body = route.body ? await outside(() => readBody(exchange.request)) : undefined;
  const read = readCall(route, { ...exchange, key, id, body }, options);
  const request = route.readRows ? { ...read, rows: await route.readRows(read) } : read;
  authorize([route.scope, ...(route.alsoNeeds?.(request.body) ?? [])], key);
  if (route.id && !isId(route.id.prefix, id)) throw new ServiceError(route.id.missing);
  const textType = textTypeOf(route, exchange.request);
  if (textType) {
    const reading = route.readText!(request, options.context, textType);
    const { parts, headers } = await reading.catch((error: unknown) => Promise.reject(fromService(error)));
    // Programs read a text without a charset as ISO-8859-1.
    const type = textType.startsWith("text/") ? `${textType}; charset=utf-8` : textType;
    return answerInParts(exchange, { "Content-Type": type, ...headers }, parts);
  }
  const reply = await route
    .handle(request, options.context)
    .catch((error: unknown) => Promise.reject(fromService(error)));
  exchange.waitedMs = reply.waitedMs;
  const status = reply.status ?? 200;
  const { mediaType } = route.docs.answers[status] ?? {};
  answer(exchange, status, reply.body, {
    ...(mediaType && { "Content-Type": mediaType }),
    ...(reply.location && { Location: reply.location }),
    ...(reply.replayed && { "Idempotency-Replayed": "true" }),
  });
}

async function withinLimit(key: ApiKey, exchange: Exchange, limiter: RateLimiter): Promise<void> {
  const quota = await limiter.consume(key.id, key.limitPerMinute);
  showQuota(exchange, quota);
  if (!quota.allowed) {
    throw new ServiceError("rate_limited", {
      message: `The limit of ${quota.limit} requests per minute is reached. Wait for the seconds in Retry-After.`,
      retryAfterSeconds: quota.resetSeconds,
    });
  }
}

function showQuota({ response }: Exchange, quota: Quota): void {
  for (const [name, value] of Object.entries(quotaHeaders(quota))) response.setHeader(name, value);
}

/** Returns the media type of a text that the client accepts before JSON, with any charset. */
function textTypeOf({ textTypes }: Route, request: IncomingMessage): string | undefined {
  if (!textTypes) return;
  const { headers } = request;
  if (headers.accept) headers.accept = headers.accept.replaceAll(/;(?!\s*q\s*=)[^;,]*/gi, "");
  const wanted = (request as Request).accepts(["application/json", ...textTypes]);
  return wanted && wanted !== "application/json" ? wanted : undefined;
}

function authorize(needed: readonly Scope[], key: ApiKey): void {
  if (key.organizationSuspended) {
    const message = "Your organization is suspended. Contact the operator of this service.";
    throw new ServiceError("forbidden", { message });
  }
  const missing = needed.find((scope) => !key.scopes.has(scope));
  if (missing) {
    throw new ServiceError("forbidden", {
      message: `The API key does not have the scope ${missing}. Use a key that has it.`,
    });
  }
}
