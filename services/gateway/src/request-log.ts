import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { metrics } from "@opentelemetry/api";
import type { Logger } from "@vvs/logging";
import type { LoggedRequestSchema, ReportedRequestsSchema, RequestLogService } from "@vvs/proto/account/v1/request_log";
import type { Client } from "@vvs/rpc";
import { toProtoTenant } from "@vvs/tenant";
import type { AnsweredCall, RecordCall } from "./http/exchange.ts";
import { startReports } from "./reports.ts";

const REPORT_EVERY_MS = 5_000;
/** A report ends with the organization with which it reaches this number of requests. */
const REPORT_SIZE = 2_000;
/** Maximum numbers of requests that wait for a report. */
const LIMITS = {
  waiting: 20_000,
  waitingPerTenant: 1_000,
  /** A client can cause refusals over the limit without end; they leave room for its other requests. */
  overLimitPerTenant: 100,
};

type Reported = MessageInitShape<typeof ReportedRequestsSchema>;

interface TenantCalls {
  readonly tenant: Reported["tenant"];
  readonly requests: MessageInitShape<typeof LoggedRequestSchema>[];
  leftOut: number;
}

/**
 * Reports requests one by one to account, for the request log. What arrives faster than it can be reported, or while
 * account is unavailable, is left out and only counted. A report with an unknown outcome is sent again unchanged.
 */
export function startRequestReports(options: {
  account: Pick<Client<typeof RequestLogService>, "reportRequests">;
  logger: Logger;
  now: () => Date;
}): { readonly record: RecordCall; close(): Promise<void> } {
  const { account, logger, now } = options;
  const leftOut = metrics.getMeter("gateway").createCounter("request_log_left_out", {
    description:
      "Requests missing in the request log, by reason: too many of an organization, or of all, waited; account refused them (see the gateway's log). Calls are not affected.",
  });
  const waiting = new Map<string, TenantCalls>();
  let size = 0;

  function take(): TenantCalls[] | undefined {
    const tenants: TenantCalls[] = [];
    let count = 0;
    for (const [name, calls] of waiting) {
      if (count >= REPORT_SIZE) break;
      waiting.delete(name);
      tenants.push(calls);
      count += calls.requests.length;
    }
    size -= count;
    return tenants.length > 0 ? tenants : undefined;
  }

  const { close } = startReports({
    take,
    send: (reportId, taken) => account.reportRequests({ reportId, tenants: taken.map(messageOf) }),
    onRefused: (taken) => leftOut.add(countOf(taken), { reason: "refused" }),
    isFull: () => size >= REPORT_SIZE,
    everyMs: REPORT_EVERY_MS,
    failure: "reporting requests for the request log fails; retrying",
    recovery: "reporting requests for the request log succeeds again",
    refused: "requests are missing in the request log, because account refuses them",
    lost: "the last requests are missing in the request log",
    logger,
  });
  return {
    record({ id, tenant }, call) {
      const name = `${tenant.organizationId} ${tenant.environment}`;
      const calls: TenantCalls = waiting.get(name) ?? { tenant: toProtoTenant(tenant), requests: [], leftOut: 0 };
      waiting.set(name, calls);
      const share = call.status === 429 ? LIMITS.overLimitPerTenant : LIMITS.waitingPerTenant;
      if (calls.requests.length >= share || size >= LIMITS.waiting) {
        calls.leftOut++;
        leftOut.add(1, { reason: size >= LIMITS.waiting ? "all" : "organization" });
        return;
      }
      calls.requests.push(requestOf(id, call, now()));
      size++;
    },
    /** Reports the remaining requests. */
    close,
  };
}

const countOf = (tenants: readonly TenantCalls[]) => tenants.reduce((sum, { requests }) => sum + requests.length, 0);

const messageOf = (calls: TenantCalls) => ({ ...calls, leftOut: BigInt(calls.leftOut) });

function requestOf(apiKeyId: string, call: AnsweredCall, at: Date): MessageInitShape<typeof LoggedRequestSchema> {
  const { method, route, objectId, status, durationMs, requestId, error } = call;
  return {
    at: timestampFromDate(at),
    operation: { method, route },
    objectId,
    status,
    durationMs: BigInt(Math.round(durationMs)),
    apiKeyId,
    requestId,
    error,
  };
}
