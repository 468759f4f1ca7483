import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Timestamp, timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "@vvs/errors";
import { type UsageCount as ProtoUsageCount, type UsageCountSchema, UsageInterval } from "@vvs/proto/account/v1/usage";
import { tenantOf, toProtoTenant } from "@vvs/tenant";
import type { UsageCount, UsageRange } from "./usage.ts";

/** Errors: invalid_request where it lacks its tenant or a time. */
export function usageCountOf(count: ProtoUsageCount): UsageCount {
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

export function usageCountMessage(count: UsageCount): MessageInitShape<typeof UsageCountSchema> {
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

/** Errors: invalid_request where it lacks a time or its interval. */
export function usageRangeOf(wanted: {
  from?: Timestamp;
  to?: Timestamp;
  interval: UsageInterval;
  apiKeyId: string;
}): UsageRange {
  const intervals = { [UsageInterval.HOUR]: "hour", [UsageInterval.DAY]: "day" } as const;
  const interval = wanted.interval === UsageInterval.UNSPECIFIED ? undefined : intervals[wanted.interval];
  if (!interval) throw new ServiceError("invalid_request", { message: "interval must be hour or day." });
  const keyId = wanted.apiKeyId === "" ? undefined : wanted.apiKeyId;
  return { from: timeOf(wanted.from), to: timeOf(wanted.to), interval, keyId };
}

function timeOf(time: Timestamp | undefined): Date {
  if (!time) throw new ServiceError("invalid_request", { message: "A time is missing." });
  return timestampDate(time);
}
