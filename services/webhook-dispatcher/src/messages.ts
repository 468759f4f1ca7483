import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { AttemptSchema, DeliverySchema, EndpointSchema } from "@vvs/proto/webhook/v1/webhook";
import type { Attempt, Delivery } from "./delivery/delivery.ts";
import type { Endpoint } from "./endpoints/endpoint.ts";
import { endpointState } from "./endpoints/endpoints-view.ts";

/** Returns a delivery as users see it. */
export function deliveryMessage(delivery: Delivery, now: Date): MessageInitShape<typeof DeliverySchema> {
  return {
    id: delivery._id,
    eventId: delivery.event_id,
    monitorId: delivery.monitor_id,
    webhookUrl: delivery.webhook_url,
    status: delivery.status,
    createdAt: timestampFromDate(delivery.created_at),
    nextAttemptAt: timestamp(delivery.next_attempt_at),
    attempts: delivery.attempts.map(attemptMessage),
    test: delivery.test ?? false,
    entityId: delivery.entity_id,
    verificationId: delivery.verification_id,
    changes: delivery.changes.map(({ field, previous, current }) => ({
      field,
      previous: previous ?? undefined,
      current: current ?? undefined,
    })),
    detectedAt: timestampFromDate(delivery.detected_at),
    replays: (delivery.replays ?? []).map(({ at, actor }) => ({ at: timestampFromDate(at), actor })),
    underWay: isUnderWay(delivery, now),
    failure: delivery.failure,
  };
}

/** Is an attempt in flight? An expired lease means that its holder died. */
function isUnderWay({ lease, next_attempt_at }: Delivery, now: Date): boolean {
  return lease !== undefined && next_attempt_at !== null && next_attempt_at > now;
}

function attemptMessage(attempt: Attempt): MessageInitShape<typeof AttemptSchema> {
  return {
    number: attempt.number,
    startedAt: timestampFromDate(attempt.started_at),
    durationMs: BigInt(attempt.duration_ms),
    statusCode: attempt.status_code,
    error: attempt.error ?? "",
    answerExcerpt: attempt.answer_excerpt,
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
  };
}

function timestamp(at: Date | null | undefined) {
  return at ? timestampFromDate(at) : undefined;
}
