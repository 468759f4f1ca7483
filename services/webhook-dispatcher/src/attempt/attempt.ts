import { propagation, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import type { Logger } from "@vvs/logging";
import type { DeliveryMetrics } from "../metrics.ts";
import type { Attempt, Delivery } from "../model/delivery.ts";
import type { AttemptResult } from "../model/retry-schedule.ts";
import { outcomeOf } from "../model/retry-schedule.ts";
import type { Poster, PostResult, UrlParts } from "./post.ts";
import { attemptHeaders, webhookBody } from "./request.ts";
import { signaturesOf } from "./signature.ts";
import type { DeliveryTerms } from "./signing-secrets.ts";

const tracer = trace.getTracer("webhook-dispatcher");

/** Makes an attempt. Undefined: by a fault of ours nothing was sent, so it does not count as an attempt. Never throws. */
export type Attempter = (delivery: Delivery, url: UrlParts, terms: DeliveryTerms) => Promise<AttemptResult | undefined>;

/** Returns a function that signs and sends a delivery, and logs and counts the attempt. */
export function createAttempter(options: {
  poster: Pick<Poster, "post">;
  metrics: Pick<DeliveryMetrics, "attempted" | "putOff">;
  userAgent: string;
  logger: Logger;
  now: () => Date;
  /** Returns 0–1, evenly spread. */
  random: () => number;
}): Attempter {
  const { poster, metrics, logger, now } = options;
  /** The last attempt failed by a fault of ours. */
  let isCutOff = false;

  function ourFault(delivery: Delivery, err: Error): void {
    metrics.putOff();
    if (!isCutOff)
      logger.error({ err, delivery_id: delivery._id }, "webhooks can't be sent; they wait and no attempt is counted");
    isCutOff = true;
  }

  return async (delivery, url, { secrets, privateHosts }) => {
    const parent = propagation.extract(ROOT_CONTEXT, delivery.trace);
    const attributes = { "http.request.method": "POST", "server.address": url.hostname };
    const span = tracer.startSpan("webhook attempt", { kind: SpanKind.CLIENT, attributes }, parent);
    const number = delivery.attempts.length + 1;
    const startedAt = now();
    const body = webhookBody(delivery, startedAt);
    const signatures = signaturesOf({ secrets, eventId: delivery.event_id, sentAt: startedAt, body });
    const headers: Record<string, string> = {
      "User-Agent": options.userAgent,
      ...attemptHeaders(delivery, { number, sentAt: startedAt, signatures }),
    };
    propagation.inject(trace.setSpan(parent, span), headers);
    const posted = await poster.post({ organizationId: delivery.organization_id, privateHosts, url, headers, body });
    const endedAt = now();
    endSpan(span, posted);
    if (posted.ourFault) return void ourFault(delivery, posted.ourFault);
    if (isCutOff) logger.info("webhooks are sent again");
    isCutOff = false;
    const attempt: Attempt = {
      number,
      started_at: startedAt,
      duration_ms: endedAt.getTime() - startedAt.getTime(),
      status_code: posted.statusCode,
      error: posted.error,
      answer_excerpt: posted.excerpt,
      signatures,
    };
    const { retryAfter } = posted;
    const outcome = outcomeOf(delivery, attempt, { endedAt, retryAfter, random: options.random() });
    const result = { delivery, attempt, outcome };
    metrics.attempted(result, endedAt);
    logger.info(lineOf(result, span), "webhook attempt");
    return result;
  };
}

function endSpan(span: Span, { statusCode, error }: PostResult): void {
  if (statusCode !== undefined) span.setAttribute("http.response.status_code", statusCode);
  if (error) span.setStatus({ code: SpanStatusCode.ERROR, message: error });
  span.end();
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
    next_attempt_at: outcome.status === "pending" ? outcome.nextAttemptAt : undefined,
    trace_id: traceId,
    span_id: spanId,
  };
}
