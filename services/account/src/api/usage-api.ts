import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Timestamp, timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import {
  type GetUsageRequest,
  type UsageCount as ProtoUsageCount,
  type UsageCountSchema,
  UsageInterval,
  UsageService,
} from "@vvs/proto/account/v1/usage";
import { type ServicePart, servicePart } from "@vvs/rpc";
import { callerOf, tenantOf, toProtoTenant } from "@vvs/tenant";
import type { KeysDomain } from "../domain.ts";
import type { UsageCount, UsageRange } from "../usage/usage.ts";

export function createUsagePart({ domain: { usage } }: { domain: KeysDomain }): ServicePart {
  return servicePart({
    service: UsageService,
    callers: { reportUsage: ["gateway"], getUsage: ["dashboard"] },
    handlers: {
      async reportUsage({ reportId, counts }) {
        await usage.report(reportId, counts.map(usageCountOf));
        return {};
      },

      async getUsage({ caller, ...request }) {
        const { tenant } = callerOf(caller);
        const counts = await usage.get(tenant, usageRangeOf(request));
        return { counts: counts.map((count) => usageCountMessage({ tenant, ...count })) };
      },
    },
  });
}

/** Errors: invalid_request if it lacks its tenant or a time. */
function usageCountOf(count: ProtoUsageCount): UsageCount {
  return {
    tenant: tenantOf(count.tenant),
    keyId: count.apiKeyId,
    hour: timeOf(count.hour),
    status: count.status,
    requests: Number(count.requests),
    durations: count.durations.map(Number),
    lastAt: timeOf(count.lastAt),
  };
}

function usageCountMessage(count: UsageCount): MessageInitShape<typeof UsageCountSchema> {
  return {
    tenant: toProtoTenant(count.tenant),
    apiKeyId: count.keyId,
    hour: timestampFromDate(count.hour),
    status: count.status,
    requests: BigInt(count.requests),
    durations: count.durations.map(BigInt),
    lastAt: timestampFromDate(count.lastAt),
  };
}

/** Errors: invalid_request if it lacks a time or its interval. */
function usageRangeOf({ from, to, interval, apiKeyId }: Omit<GetUsageRequest, "caller" | "$typeName">): UsageRange {
  const intervals: Record<number, UsageRange["interval"]> = {
    [UsageInterval.HOUR]: "hour",
    [UsageInterval.DAY]: "day",
  };
  const known = intervals[interval];
  if (!known) throw new ServiceError("invalid_request", { message: "interval must be hour or day." });
  return { from: timeOf(from), to: timeOf(to), interval: known, keyId: apiKeyId || undefined };
}

function timeOf(time: Timestamp | undefined): Date {
  if (!time) throw new ServiceError("invalid_request", { message: "A time is missing." });
  return timestampDate(time);
}
