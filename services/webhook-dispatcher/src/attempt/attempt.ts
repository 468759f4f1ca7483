import {
  type Context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import type { Logger } from "@vvs/logging";
import type { Attempt, Delivery } from "../delivery/delivery.ts";
import type { AttemptResult } from "../delivery/store.ts";
import type { DeliveryMetrics } from "../metrics.ts";
import { type Outcome, outcomeOf } from "./outcome.ts";
import type { Poster, PostResult } from "./post.ts";
import { type SigningSecrets, signatureHeaders } from "./signature.ts";
import { webhookBody } from "./webhook-body.ts";

const tracer = trace.getTracer("webhook-dispatcher");

export interface AttemptOptions {
  readonly poster: Pick<Poster, "post">;
  readonly metrics: Pick<DeliveryMetrics, "attempted" | "putOff">;
  readonly userAgent: string;
  readonly logger: Logger;
  readonly now: () => Date;
  /** Returns 0–1, evenly spread. */
  readonly random: () => number;
}

/** Makes an attempt. Undefined: by a fault of ours nothing was sent, so it does not count as an attempt. Never throws. */
export type Attempter = (delivery: Delivery, url: URL, secrets: SigningSecrets) => Promise<AttemptResult | undefined>;

/** Returns a function that signs and sends a delivery, and logs and counts the attempt. */
export function createAttempter(options: AttemptOptions): Attempter {
  const { poster, metrics, userAgent, logger, now } = options;
  /** The last attempt failed by a fault of ours. */
  let isCutOff = false;

  function ourFault(delivery: Delivery, err: Error): void {
    metrics.putOff();
    if (!isCutOff)
      logger.error({ err, delivery_id: delivery._id }, "webhooks can't be sent; they wait and no attempt is counted");
    isCutOff = true;
  }

  return async (delivery, url, secrets) => {
    const parent = propagation.extract(ROOT_CONTEXT, delivery.trace);
    const span = startSpan(url, parent);
    const startedAt = now();
    const body = webhookBody(delivery, startedAt);
    const headers = headersOf(delivery, { body, secrets, sentAt: startedAt, userAgent });
    propagation.inject(trace.setSpan(parent, span), headers);
    const posted = await poster.post({ url, headers, body });
    const endedAt = now();
    endSpan(span, posted);
    if (posted.ourFault) return void ourFault(delivery, posted.ourFault);
    if (isCutOff) logger.info("webhooks are sent again");
    isCutOff = false;
    const attempt = attemptOf(delivery, posted, startedAt, endedAt);
    const { retryAfter } = posted;
    const outcome = outcomeOf(delivery, attempt, { endedAt, retryAfter, random: options.random() });
    const result = { delivery, attempt, outcome };
    metrics.attempted(result, endedAt);
    logger.info(lineOf(result, span), "webhook attempt");
    return result;
  };
}

function startSpan(url: URL, parent: Context): Span {
  const attributes = { "http.request.method": "POST", "server.address": url.hostname };
  return tracer.startSpan("webhook attempt", { kind: SpanKind.CLIENT, attributes }, parent);
}

function endSpan(span: Span, { statusCode, error }: PostResult): void {
  if (statusCode !== undefined) span.setAttribute("http.response.status_code", statusCode);
  if (error) span.setStatus({ code: SpanStatusCode.ERROR, message: error });
  span.end();
}

function headersOf(
  delivery: Delivery,
  more: { body: string; secrets: SigningSecrets; sentAt: Date; userAgent: string },
): Record<string, string> {
  return {
    "Content-Type": "application/json",
    "User-Agent": more.userAgent,
    ...signatureHeaders({ ...more, eventId: delivery.event_id }),
    "Idempotency-Key": delivery.event_id,
    "X-Delivery-Attempt": String(delivery.attempts.length + 1),
    ...(delivery.test && { "X-Delivery-Test": "true" }),
  };
}

function attemptOf(
  delivery: Delivery,
  { statusCode, error, excerpt }: PostResult,
  startedAt: Date,
  endedAt: Date,
): Attempt {
  return {
    number: delivery.attempts.length + 1,
    started_at: startedAt,
    duration_ms: endedAt.getTime() - startedAt.getTime(),
    status_code: statusCode,
    error,
    answer_excerpt: excerpt,
  };
}

function lineOf({ delivery, attempt, outcome }: AttemptResult, span: Span) {
  const { traceId, spanId } = span.spanContext();
  return {
    delivery_id: delivery._id,
    event_id: delivery.event_id,
    monitor_id: delivery.monitor_id,
    organization_id: delivery.organization_id,
    attempt: attempt.number,
    duration_ms: attempt.duration_ms,
    status_code: attempt.status_code,
    error: attempt.error,
    status: outcome.status,
    next_attempt_at: nextOf(outcome),
    trace_id: traceId,
    span_id: spanId,
  };
}

function nextOf(outcome: Outcome): Date | undefined {
  return outcome.status === "pending" ? outcome.nextAttemptAt : undefined;
}
