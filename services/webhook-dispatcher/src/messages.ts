import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { changeMessages } from "@vvs/kafka";
import type { AttemptSchema, DeliverySchema, EndpointSchema } from "@vvs/proto/webhook/v1/webhook";
import { attemptHeaders, webhookBody } from "./attempt/request.ts";
import type { Endpoint } from "./endpoints/endpoint.ts";
import { endpointState } from "./endpoints/endpoints-view.ts";
import type { Attempt, Delivery } from "./model/delivery.ts";

/** Returns a delivery as users see it; `withSent` adds what its attempts sent. */
export function deliveryMessage(
  delivery: Delivery,
  now: Date,
  { withSent = false } = {},
): MessageInitShape<typeof DeliverySchema> {
  return {
    id: delivery._id,
    eventId: delivery.event_id,
    monitorId: delivery.monitor_id,
    webhookUrl: delivery.webhook_url,
    status: delivery.status,
    createdAt: timestampFromDate(delivery.created_at),
    nextAttemptAt: timestamp(delivery.next_attempt_at),
    attempts: delivery.attempts.map((attempt) =>
      attemptMessage(attempt, withSent ? sentBy(delivery, attempt) : undefined),
    ),
    test: delivery.test ?? false,
    entityId: delivery.entity_id,
    verificationId: delivery.verification_id,
    changes: changeMessages(delivery.changes),
    detectedAt: timestampFromDate(delivery.detected_at),
    replays: (delivery.replays ?? []).map(({ at, actor }) => ({ at: timestampFromDate(at), actor })),
    underWay: isUnderWay(delivery, now),
    failure: delivery.failure,
    externalId: delivery.external_id,
  };
}

/** Returns the body and the headers of an attempt. */
function sentBy(delivery: Delivery, { number, started_at: sentAt, signatures }: Attempt) {
  const headers = signatures ? Object.entries(attemptHeaders(delivery, { number, sentAt, signatures })) : [];
  return { body: webhookBody(delivery, sentAt), headers: headers.map(([name, value]) => ({ name, value })) };
}

/** Is an attempt in flight? An expired lease means that its holder died. */
function isUnderWay({ lease, next_attempt_at }: Delivery, now: Date): boolean {
  return lease !== undefined && next_attempt_at !== null && next_attempt_at > now;
}

function attemptMessage(attempt: Attempt, sent?: ReturnType<typeof sentBy>): MessageInitShape<typeof AttemptSchema> {
  return {
    number: attempt.number,
    startedAt: timestampFromDate(attempt.started_at),
    durationMs: BigInt(attempt.duration_ms),
    statusCode: attempt.status_code,
    error: attempt.error ?? "",
    answerExcerpt: attempt.answer_excerpt,
    ...sent,
  };
}

/** Returns an endpoint as users see it. */
export function endpointMessage(endpoint: Endpoint): MessageInitShape<typeof EndpointSchema> {
  return {
    webhookUrl: endpoint.url,
    state: endpointState(endpoint),
    failingSince: timestamp(endpoint.failing_since),
    consecutiveFailures: BigInt(endpoint.consecutive_failures),
    lastSuccessAt: timestamp(endpoint.last_success_at),
    lastFailureAt: timestamp(endpoint.last_failure_at),
    lastError: endpoint.last_error ?? "",
    lastStatusCode: endpoint.last_status_code ?? undefined,
    goneAt: timestamp(endpoint.gone_at),
    dismissedAt: timestamp(endpoint.dismissed_at),
  };
}

function timestamp(at: Date | null | undefined) {
  return at ? timestampFromDate(at) : undefined;
}
