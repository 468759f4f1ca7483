import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type ListRequestsRequest,
  type LoggedRequestSchema,
  type Operation,
  type LoggedRequest as ProtoLoggedRequest,
  RequestLogService,
} from "@vvs/proto/account/v1/request_log";
import { type ServicePart, servicePart } from "@vvs/rpc";
import { callerOf, tenantOf } from "@vvs/tenant";
import type { KeysDomain } from "../domain.ts";
import { REQUESTS_KEPT_DAYS } from "../model/logged-requests.ts";
import { invalid } from "../refusals.ts";
import { BURST, PER_MINUTE } from "../request-log/allowance.ts";
import type { LoggedRequest, RequestQuery } from "../request-log/request-log.ts";

export function createRequestLogPart({ domain: { requestLog } }: { domain: KeysDomain }): ServicePart {
  return servicePart({
    service: RequestLogService,
    callers: { reportRequests: ["gateway"], listRequests: ["dashboard"] },
    handlers: {
      async reportRequests({ reportId, tenants }) {
        const reported = tenants.map(({ tenant, requests, leftOut }) => {
          return { tenant: tenantOf(tenant), requests: requests.map(requestOf), leftOut: Number(leftOut) };
        });
        await requestLog.report(reportId, reported);
        return {};
      },

      async listRequests({ caller, ...request }) {
        const found = await requestLog.list(callerOf(caller).tenant, queryOf(request));
        return {
          requests: found.items.map(requestMessage),
          next: found.next,
          operations: found.operations.map(operationMessage),
          leftOut: BigInt(found.leftOut),
          keptDays: REQUESTS_KEPT_DAYS,
          burst: BURST,
          perMinute: PER_MINUTE,
        };
      },
    },
  });
}

const NO_ANSWER = "no_answer";

/** Errors: invalid_request if it lacks its time or operation. */
function requestOf(request: ProtoLoggedRequest): LoggedRequest {
  const { at, operation, status, error } = request;
  if (!at) throw invalid("at", "is missing");
  if (!operation) throw invalid("operation", "is missing");
  return {
    created_at: timestampDate(at),
    operation: operationText(operation),
    ...(request.objectId && { object_id: request.objectId }),
    status,
    duration_ms: Number(request.durationMs),
    api_key_id: request.apiKeyId,
    request_id: request.requestId,
    outcome: status === 0 ? NO_ANSWER : error || "ok",
  };
}

function requestMessage(request: LoggedRequest): MessageInitShape<typeof LoggedRequestSchema> {
  const { outcome } = request;
  return {
    at: timestampFromDate(request.created_at),
    operation: operationMessage(request.operation),
    objectId: request.object_id,
    status: request.status,
    durationMs: BigInt(request.duration_ms),
    apiKeyId: request.api_key_id,
    requestId: request.request_id,
    error: outcome === "ok" || outcome === NO_ANSWER ? "" : outcome,
  };
}

function queryOf(request: Omit<ListRequestsRequest, "caller" | "$typeName">): RequestQuery {
  const { outcome, apiKeyId: keyId, operation, requestId, from, to, page } = request;
  return {
    outcome,
    keyId,
    operation: operation && operationText(operation),
    requestId,
    from: from && timestampDate(from),
    to: to && timestampDate(to),
    page,
  };
}

const operationText = ({ method, route }: Operation) => `${method} ${route}`;

function operationMessage(text: string): { method: string; route: string } {
  const [method = "", route = ""] = text.split(" ");
  return { method, route };
}
